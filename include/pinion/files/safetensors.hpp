// Tensors by name in files that other programs read: safetensors, in one file or in shards with an index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/near_name.hpp>
#include <pinion/files/safetensors_reader.hpp>
#include <pinion/files/safetensors_writer.hpp>
#include <pinion/files/shard_index.hpp>

namespace pinion::inline v0::files {

namespace detail {

inline std::vector<tensor_outline> outlines_of(const std::map<std::string, any_tensor>& tensors) {
  std::vector<tensor_outline> outlines;
  for (const auto& [name, t] : tensors) outlines.push_back({name, t.dtype(), t.shape()});
  return outlines;
}

// Fills shards in the order of the names; a tensor larger than a shard has one of its own.
inline std::vector<std::map<std::string, any_tensor>> cut(const std::map<std::string, any_tensor>& tensors,
                                                          std::uint64_t most) {
  std::vector<std::map<std::string, any_tensor>> shards(1);
  std::uint64_t filled = 0;
  for (const auto& [name, t] : tensors) {
    const std::uint64_t bytes = t.bytes();
    if (!shards.back().empty() && (bytes > most || filled > most - bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().emplace(name, t);
    filled += bytes;
  }
  return shards;
}

}  // namespace detail

// All of them in one file. Errors: see safetensors_writer.
inline void write_safetensors(const std::filesystem::path& path, const std::map<std::string, any_tensor>& tensors,
                              safetensors_options options = {}) {
  safetensors_writer writer(path, detail::outlines_of(tensors), std::move(options));
  for (const auto& [name, t] : tensors) writer.write(name, t);
  writer.commit();
}

inline std::map<std::string, any_tensor> read_safetensors(const std::filesystem::path& path) {
  return safetensors_reader(path).read_all();
}

// In as many shards of at most `most` bytes of elements as it takes, "STEM-00001-of-00003.safetensors", and their
// index, "STEM.safetensors.index.json", which is written last; returns its path. Where one shard is enough it is
// "STEM.safetensors", without an index. A tensor larger than `most` has a shard of its own.
inline std::filesystem::path write_sharded_safetensors(const std::filesystem::path& folder, const std::string& stem,
                                                       const std::map<std::string, any_tensor>& tensors,
                                                       std::uint64_t most = 5'000'000'000,
                                                       const safetensors_options& options = {}) {
  const auto shards = detail::cut(tensors, most);
  if (shards.size() == 1) {
    const auto whole = folder / safetensors_name(stem);
    write_safetensors(whole, tensors, options);
    return whole;
  }
  shard_index index;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = shard_name(stem, i, shards.size());
    write_safetensors(folder / name, shards[i], options);
    for (const auto& [tensor, value] : shards[i]) {
      index.weight_map.emplace(tensor, name);
      index.total_size += value.bytes();
    }
  }
  const auto path = folder / shard_index_name(stem);
  write_shard_index(path, index);
  return path;
}

// The tensors that an index names, each in its shard. All shards are opened and held against the index at once: a
// tensor that its shard does not hold, or a shard's that the index does not name, is data_loss, as when an index is
// older than its shards. Thread-safe as safetensors_reader is.
class sharded_safetensors_reader {
 public:
  explicit sharded_safetensors_reader(const std::filesystem::path& path) : index_(read_shard_index(path)) {
    for (const auto& [tensor, shard] : index_.weight_map)
      if (!shards_.contains(shard)) shards_.emplace(shard, safetensors_reader(path.parent_path() / shard));
    std::uint64_t total = 0;
    for (const auto& [tensor, shard] : index_.weight_map)
      if (!shards_.at(shard).find(tensor))
        disagree(path, "says that tensor '" + tensor + "' is in " + shard + ", which does not hold it");
    for (const auto& [shard, reader] : shards_) {
      for (const stored_tensor& t : reader.tensors()) {
        total += t.end - t.begin;
        const auto found = index_.weight_map.find(t.name);
        if (found == index_.weight_map.end() || found->second != shard)
          disagree(path, "does not say that tensor '" + t.name + "' is in " + shard);
      }
    }
    if (index_.total_size != 0 && index_.total_size != total)
      disagree(path, "speaks of " + std::to_string(index_.total_size) + " bytes, and its shards hold " +
                         std::to_string(total));
  }

  const shard_index& index() const { return index_; }
  const std::map<std::string, safetensors_reader>& shards() const { return shards_; }
  const stored_tensor* find(const std::string& name) const {
    const auto found = index_.weight_map.find(name);
    return found == index_.weight_map.end() ? nullptr : shards_.at(found->second).find(name);
  }
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const auto& [name, file] : index_.weight_map) all.push_back(name);
    return all;
  }
  any_tensor read(const std::string& name) const {
    const auto found = index_.weight_map.find(name);
    if (found == index_.weight_map.end())
      throw error(errc::not_found, "there is no tensor '" + name + "' in the index of " +
                                       std::to_string(shards_.size()) + " safetensors files" +
                                       did_you_mean(name, names()));
    return shards_.at(found->second).read(name);
  }

 private:
  [[noreturn]] static void disagree(const std::filesystem::path& path, const std::string& how) {
    throw error(errc::data_loss, path.string() + " " + how + "; is it older than its files?");
  }

  shard_index index_;
  std::map<std::string, safetensors_reader> shards_;
};

}  // namespace pinion::inline v0::files

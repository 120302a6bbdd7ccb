// Bodies of <pinion/files/safetensors.hpp>.
#pragma once

#include <utility>

#include <pinion/base/near_name.hpp>
#include <pinion/files/safetensors.hpp>

namespace pinion { inline namespace v0 { namespace files { namespace detail {

PINION_DECL std::vector<tensor_outline> outlines_of(const std::map<std::string, any_tensor>& tensors) {
  std::vector<tensor_outline> outlines;
  for (const auto& [name, t] : tensors) outlines.push_back({name, t.dtype(), t.shape()});
  return outlines;
}

PINION_DECL std::vector<std::map<std::string, any_tensor>> cut(const std::map<std::string, any_tensor>& tensors,
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

}}}}  // namespace pinion::v0::files::detail

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL void write_safetensors(const file_path& path, const std::map<std::string, any_tensor>& tensors,
                                   safetensors_options options) {
  safetensors_writer writer(path, detail::outlines_of(tensors), std::move(options));
  for (const auto& [name, t] : tensors) writer.write(name, t);
  writer.commit();
}

PINION_DECL std::filesystem::path write_sharded_safetensors(const std::filesystem::path& folder,
                                                            const std::string& stem,
                                                            const std::map<std::string, any_tensor>& tensors,
                                                            std::uint64_t most, const safetensors_options& options) {
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

PINION_DECL sharded_safetensors_reader::sharded_safetensors_reader(const std::filesystem::path& path)
    : index_(read_shard_index(path)) {
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
    disagree(path,
             "speaks of " + std::to_string(index_.total_size) + " bytes, and its shards hold " + std::to_string(total));
}

PINION_DECL const stored_tensor* sharded_safetensors_reader::find(const std::string& name) const {
  const auto found = index_.weight_map.find(name);
  return found == index_.weight_map.end() ? nullptr : shards_.at(found->second).find(name);
}

PINION_DECL std::vector<std::string_view> sharded_safetensors_reader::names() const {
  std::vector<std::string_view> all;
  for (const auto& [name, file] : index_.weight_map) all.push_back(name);
  return all;
}

PINION_DECL any_tensor sharded_safetensors_reader::read(const std::string& name) const {
  const auto found = index_.weight_map.find(name);
  if (found == index_.weight_map.end())
    throw error(errc::not_found, "there is no tensor '" + name + "' in the index of " + std::to_string(shards_.size()) +
                                     " safetensors files" + did_you_mean(name, names()));
  return shards_.at(found->second).read(name);
}

PINION_DECL void sharded_safetensors_reader::disagree(const std::filesystem::path& path, const std::string& how) {
  throw error(errc::data_loss, path.string() + " " + how + "; is it older than its files?");
}

}}}  // namespace pinion::v0::files

// Tensors by name in files that other programs read: safetensors, in one file or in shards with an index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/files/safetensors_reader.hpp>
#include <pinion/files/safetensors_writer.hpp>
#include <pinion/files/shard_index.hpp>

namespace pinion { inline namespace v0 { namespace files {

namespace detail {

std::vector<tensor_outline> outlines_of(const std::map<std::string, any_tensor>& tensors);

// Fills shards in the order of the names; a tensor larger than a shard has one of its own.
std::vector<std::map<std::string, any_tensor>> cut(const std::map<std::string, any_tensor>& tensors,
                                                   std::uint64_t most);

}  // namespace detail

// All of them in one file. Errors: see safetensors_writer.
void write_safetensors(const file_path& path, const std::map<std::string, any_tensor>& tensors,
                       safetensors_options options = {});

inline std::map<std::string, any_tensor> read_safetensors(const file_path& path) {
  return safetensors_reader(path).read_all();
}

// In as many shards of at most `most` bytes of elements as it takes, "STEM-00001-of-00003.safetensors", and their
// index, "STEM.safetensors.index.json", which is written last; returns its path. Where one shard is enough it is
// "STEM.safetensors", without an index. A tensor larger than `most` has a shard of its own.
std::filesystem::path write_sharded_safetensors(const std::filesystem::path& folder, const std::string& stem,
                                                const std::map<std::string, any_tensor>& tensors,
                                                std::uint64_t most = 5'000'000'000,
                                                const safetensors_options& options = {});

// The tensors that an index names, each in its shard. All shards are opened and held against the index at once: a
// tensor that its shard does not hold, or a shard's that the index does not name, is data_loss, as when an index is
// older than its shards. Thread-safe as safetensors_reader is.
class sharded_safetensors_reader {
 public:
  explicit sharded_safetensors_reader(const std::filesystem::path& path);

  const shard_index& index() const { return index_; }
  const std::map<std::string, safetensors_reader>& shards() const { return shards_; }
  const stored_tensor* find(const std::string& name) const;
  std::vector<std::string_view> names() const;
  any_tensor read(const std::string& name) const;

 private:
  [[noreturn]] static void disagree(const std::filesystem::path& path, const std::string& how);

  shard_index index_;
  std::map<std::string, safetensors_reader> shards_;
};

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/safetensors.ipp>
#endif

// Named tensors in files that other programs read: safetensors, in one file, or in shards with an index.
//
//   pn::files::write_safetensors("model.safetensors", {{"W", W.untyped()}, {"b", b.untyped()}});
//   auto all = pn::files::read_safetensors("model.safetensors");                  // a map from names to tensors
//   pn::tensor<float> w{pn::files::safetensors_reader("model.safetensors").read("W")};
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

// The outlines of some tensors.
std::vector<tensor_outline> outlines_of(const std::map<std::string, any_tensor>& tensors);

// Deals tensors out to shards in the order of their names. A tensor larger than a shard gets a shard of its own.
std::vector<std::map<std::string, any_tensor>> cut(const std::map<std::string, any_tensor>& tensors,
                                                   std::uint64_t most);

}  // namespace detail

// Writes all tensors to one file. Errors are those of safetensors_writer. An earlier file of that name is replaced when
// the new one is complete. Names may be any UTF-8 text.
void write_safetensors(const file_path& path, const std::map<std::string, any_tensor>& tensors,
                       safetensors_options options = {});

// Reads all tensors of one file. Errors are those of safetensors_reader.
inline std::map<std::string, any_tensor> read_safetensors(const file_path& path) {
  return safetensors_reader(path).read_all();
}

// Writes tensors to shards of at most `most` bytes of elements, "STEM-00001-of-00003.safetensors" and so on, and last
// their index, "STEM.safetensors.index.json". Returns the path of the index. If one shard is enough, it writes
// "STEM.safetensors" without an index, and returns its path. A tensor larger than `most` has a shard of its own. Errors
// are those of safetensors_writer and write_shard_index. Shards that an earlier call left, with other numbers, are not
// removed.
std::filesystem::path write_sharded_safetensors(const std::filesystem::path& folder, const std::string& stem,
                                                const std::map<std::string, any_tensor>& tensors,
                                                std::uint64_t most = 5'000'000'000,
                                                const safetensors_options& options = {});

// Reads the tensors of a sharded file. The constructor opens all shards that the index names and compares them with it:
// if a shard lacks a tensor that the index puts there, or has one that the index does not name, that is data_loss, as
// when the index is older than its shards. It owns the open shards. Several threads may read at once. Other errors are
// those of safetensors_reader and read_shard_index.
class sharded_safetensors_reader {
 public:
  // Opens the index at `path` and the shards beside it.
  explicit sharded_safetensors_reader(const std::filesystem::path& path);

  // The index, as it was read.
  const shard_index& index() const { return index_; }
  // The open shards, by file name.
  const std::map<std::string, safetensors_reader>& shards() const { return shards_; }
  // The description of a tensor; null if no shard has one of that name.
  const stored_tensor* find(const std::string& name) const;
  // The names of all tensors; they live as long as the reader.
  std::vector<std::string_view> names() const;
  // Reads a tensor. Throws not_found if the index does not name it, with the nearest name that it has. The tensor is in
  // host memory; its checksum is compared where the file has one.
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

// Which safetensors file holds which tensor: "model.safetensors.index.json".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// A value.
struct shard_index {
  std::map<std::string, std::string> weight_map;  // tensor to file, relative to the folder of the index
  std::uint64_t total_size = 0;                   // bytes of all elements; 0: not said
};

// "model.safetensors" of "model": all tensors in one file.
std::string safetensors_name(const std::string& stem);
// "model-00001-of-00003.safetensors" for shard 0 of 3.
std::string shard_name(const std::string& stem, std::size_t shard, std::size_t shards);
// "model.safetensors.index.json".
std::string shard_index_name(const std::string& stem);

// Errors: no such file not_found; no JSON of that form, a tensor named twice, or a path that leaves the folder:
// data_loss.
shard_index read_shard_index(const file_path& path);

// Appears whole or not at all. A path that leaves the folder, or a name that is not UTF-8, is invalid_argument.
void write_shard_index(const file_path& path, const shard_index& index);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/shard_index.ipp>
#endif

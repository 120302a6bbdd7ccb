// The index of a sharded safetensors file, "model.safetensors.index.json": it tells which file holds which tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// The contents of an index. A value.
struct shard_index {
  // Maps the name of a tensor to its file, relative to the folder of the index.
  std::map<std::string, std::string> weight_map;
  std::uint64_t total_size = 0;  // the bytes of all elements; 0: not told
};

// The name of a file with all tensors: "model.safetensors" for the stem "model".
std::string safetensors_name(const std::string& stem);
// The name of a shard: "model-00001-of-00003.safetensors" for shard 0 of 3.
std::string shard_name(const std::string& stem, std::size_t shard, std::size_t shards);
// The name of the index: "model.safetensors.index.json".
std::string shard_index_name(const std::string& stem);

// Reads an index. Errors: not_found, there is no such file; data_loss, it is not JSON of that form, names a tensor
// twice, or names a file outside of its folder; unimplemented, pinion was built without nlohmann-json. The shards are
// not opened here.
shard_index read_shard_index(const file_path& path);

// Writes an index, whole or not at all. Throws invalid_argument for a file outside of its folder and for a name that is
// not UTF-8; otherwise errors are those of output_file.
void write_shard_index(const file_path& path, const shard_index& index);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/shard_index.ipp>
#endif

// The tensors of a checkpoint before they are files, and the function that writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A tensor in pieces, each of them some of its rows, in order. A tensor that is not cut is one piece.
struct saved_tensor {
  shape extent;
  std::vector<any_tensor> pieces;
  std::int64_t rows = 0;  // the rows of all pieces together; 0 if the tensor is not cut
};

// The contents of a checkpoint: the tensors of each file, one file for each task whose variables it holds, and notes
// that every file carries. A value.
struct checkpoint_contents {
  struct shard {
    std::string task;
    std::map<std::string, saved_tensor> values;
  };
  std::string prefix;           // as the caller of save() has written it
  std::filesystem::path place;  // the prefix, resolved
  std::vector<shard> shards;
  std::map<std::string, std::string> notes;
};

namespace detail {

// Writes one shard as a safetensors file, with the notes as its metadata.
void write_shard(const std::filesystem::path& path, const checkpoint_contents::shard& s,
                 const std::map<std::string, std::string>& notes);

// Shard files that are being written. Its destructor removes those that the index does not name, so that a checkpoint
// that fails half-way leaves no files.
class new_shards {
 public:
  explicit new_shards(const checkpoint_files& of) : of_(of) {}
  new_shards(const new_shards&) = delete;
  ~new_shards();
  void add(const std::filesystem::path& file) { made_.push_back(file); }

 private:
  const checkpoint_files& of_;
  std::vector<std::filesystem::path> made_;
};

// Writes all shards and then the index. If a checkpoint of the same prefix exists, the new shards get names that none
// of its shards has.
void write_shards(const checkpoint_contents& c, const checkpoint_files& to, bool is_another);

}  // namespace detail

// Writes the files of a checkpoint, and makes their folder if it does not exist. An earlier checkpoint of the same
// prefix stays valid until the new one is complete; if the new one fails, its files are removed. Errors of the disk are
// those of files::output_file.
void write_checkpoint(const checkpoint_contents& c);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_contents.ipp>
#endif

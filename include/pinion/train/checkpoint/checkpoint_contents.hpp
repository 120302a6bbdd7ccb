// What a checkpoint is to hold, and how it becomes files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A tensor as rows that follow one another; one piece where it is not cut.
struct saved_tensor {
  shape extent;
  std::vector<any_tensor> pieces;
  std::int64_t rows = 0;  // of the pieces; 0 where it is not cut
};

// A value: what goes into each file, by the task whose variables it holds.
struct checkpoint_contents {
  struct shard {
    std::string task;
    std::map<std::string, saved_tensor> values;
  };
  std::string prefix;
  std::vector<shard> shards;
  std::map<std::string, std::string> notes;
};

namespace detail {

void write_shard(const std::filesystem::path& path, const checkpoint_contents::shard& s,
                 const std::map<std::string, std::string>& notes);

// Files that are being made; those that no index names go again with it.
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

// Under names that no shard of an earlier checkpoint of that prefix has, if there is one.
void write_shards(const checkpoint_contents& c, const checkpoint_files& to, bool is_another);

}  // namespace detail

// Makes the files, and their folder where it is not there. A checkpoint of the same prefix stays until the new one is
// whole; of one that does not become whole nothing stays. Errors of the disk are those of files::output_file.
void write_checkpoint(const checkpoint_contents& c);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_contents.ipp>
#endif

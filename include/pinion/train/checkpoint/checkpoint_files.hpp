// The files of a checkpoint, by its prefix: the path without ".safetensors".
//
//   DIR/model-20.safetensors                           all variables in one file; or
//   DIR/model-20-00001-of-00002.safetensors, ...       shards, and
//   DIR/model-20.safetensors.index.json                which variable is in which, written last
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/files/shard_index.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A value: names, whether the files are there or not.
class checkpoint_files {
 public:
  explicit checkpoint_files(const std::string& prefix)
      : whole_(files::safetensors_name(prefix)), index_(files::shard_index_name(prefix)) {}

  const std::filesystem::path& whole() const { return whole_; }
  const std::filesystem::path& index() const { return index_; }
  bool exist() const { return std::filesystem::exists(whole_) || std::filesystem::exists(index_); }

  // Those that the index names; none where there is no index.
  std::set<std::filesystem::path> shards() const;
  // The index goes before its shards: what is left of a checkpoint that is half removed is no checkpoint.
  void remove() const;

 private:
  std::filesystem::path whole_, index_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_files.ipp>
#endif

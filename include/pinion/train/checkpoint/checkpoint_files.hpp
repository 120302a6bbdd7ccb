// The names of a checkpoint's files, derived from its prefix: the path without ".safetensors".
//
//   DIR/model-20.safetensors                           all variables in one file; or
//   DIR/model-20-00001-of-00002.safetensors, ...       shards, and
//   DIR/model-20.safetensors.index.json                which variable is in which, written last
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/files/shard_index.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The paths that a prefix stands for, whether the files exist or not. A value. exist(), shards(), own_shards() and
// remove() ask the file system at each call, and throw the errors of files::is_there.
class checkpoint_files {
 public:
  explicit checkpoint_files(const std::string& prefix)
      : whole_(files::safetensors_name(prefix)), index_(files::shard_index_name(prefix)) {}

  const std::filesystem::path& whole() const { return whole_; }
  const std::filesystem::path& index() const { return index_; }
  bool exist() const { return files::is_there(whole_) || files::is_there(index_); }

  // The paths of the shards that the index names; none if there is no index. Throws the errors of
  // files::read_shard_index.
  std::set<std::filesystem::path> shards() const;
  // Those of them that are of this checkpoint by their names, too: an index that was copied, or edited, may name files
  // of others.
  std::set<std::filesystem::path> own_shards() const;
  // Removes the files. The index goes before its shards, so that what is left of a half-removed checkpoint is not taken
  // for one.
  void remove() const;

 private:
  std::filesystem::path whole_, index_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_files.ipp>
#endif

// Bodies of <pinion/train/checkpoint/checkpoint_files.hpp>.
#pragma once

#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::set<std::filesystem::path> checkpoint_files::shards() const {
  std::set<std::filesystem::path> all;
  if (files::is_there(index_))
    for (const auto& [tensor, file] : files::read_shard_index(index_).weight_map)
      all.insert(index_.parent_path() / file);
  return all;
}

PINION_DECL void checkpoint_files::remove() const {
  const auto left = shards();
  files::remove_file(index_);
  for (const auto& shard : left) files::remove_file(shard);
  files::remove_file(whole_);
}

}}}  // namespace pinion::v0::train

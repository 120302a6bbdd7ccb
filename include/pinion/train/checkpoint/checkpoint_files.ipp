// Bodies of <pinion/train/checkpoint/checkpoint_files.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// True for "model-20-00001-of-00002.safetensors" and "model-20.831-00001-of-00002.safetensors" of the stem "model-20".
inline bool is_shard_of(std::string_view stem, std::string_view file) {
  if (!file.starts_with(stem) || !file.ends_with(".safetensors")) return false;
  std::string_view rest = file.substr(stem.size());
  const auto take_number = [&](std::string_view before) {
    if (!rest.starts_with(before)) return false;
    rest.remove_prefix(before.size());
    const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(digits);
    return digits > 0;
  };
  if (rest.starts_with('.') && !take_number(".")) return false;
  return take_number("-") && take_number("-of-") && rest == ".safetensors";
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::set<std::filesystem::path> checkpoint_files::shards() const {
  std::set<std::filesystem::path> all;
  if (files::is_there(index_))
    for (const auto& [tensor, file] : files::read_shard_index(index_).weight_map)
      all.insert(index_.parent_path() / file);
  return all;
}

PINION_DECL std::set<std::filesystem::path> checkpoint_files::own_shards() const {
  const std::string stem = whole_.stem().string();
  std::set<std::filesystem::path> own;
  for (const auto& shard : shards())
    if (shard.parent_path() == whole_.parent_path() && detail::is_shard_of(stem, shard.filename().string()))
      own.insert(shard);
  return own;
}

PINION_DECL void checkpoint_files::remove() const {
  const auto left = own_shards();
  files::remove_file(index_);
  for (const auto& shard : left) files::remove_file(shard);
  files::remove_file(whole_);
}

}}}  // namespace pinion::v0::train

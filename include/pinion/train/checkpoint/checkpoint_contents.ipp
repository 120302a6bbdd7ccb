// Bodies of <pinion/train/checkpoint/checkpoint_contents.hpp>.
#pragma once

#include <random>
#include <utility>

#include <pinion/files/folder.hpp>
#include <pinion/files/safetensors_writer.hpp>
#include <pinion/train/checkpoint/checkpoint_contents.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void write_shard(const std::filesystem::path& path, const checkpoint_contents::shard& s,
                             const std::map<std::string, std::string>& notes) {
  std::vector<files::tensor_outline> outlines;
  for (const auto& [name, t] : s.values) outlines.push_back({name, t.pieces[0].dtype(), t.extent});
  files::safetensors_writer writer(path, std::move(outlines), {.metadata = notes});
  for (const auto& [name, t] : s.values) writer.write_pieces(name, t.pieces);
  writer.commit();
}

PINION_DECL new_shards::~new_shards() {
  try {
    const auto named = of_.shards();
    for (const auto& file : made_)
      if (named.count(file) == 0) files::remove_file(file);
  } catch (const error&) {  // an error is already under way that tells why the checkpoint is incomplete
  }
}

PINION_DECL void write_shards(const checkpoint_contents& c, const checkpoint_files& to, bool is_another) {
  std::string stem = c.place.filename().string();
  if (is_another) stem += "." + std::to_string(std::random_device{}());
  files::shard_index index;
  new_shards made(to);
  for (std::size_t i = 0; i < c.shards.size(); ++i) {
    const std::string file = files::shard_name(stem, i, c.shards.size());
    made.add(c.place.parent_path() / file);
    write_shard(c.place.parent_path() / file, c.shards[i], c.notes);
    for (const auto& [name, value] : c.shards[i].values) {
      index.weight_map.emplace(name, file);
      for (const any_tensor& piece : value.pieces) index.total_size += piece.bytes();
    }
  }
  files::write_shard_index(to.index(), index);
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void write_checkpoint(const checkpoint_contents& c) {
  files::make_folder(c.place.parent_path());
  const checkpoint_files to(c.place.string());
  const auto before = to.own_shards();
  if (c.shards.size() == 1) {
    detail::write_shard(to.whole(), c.shards[0], c.notes);
    files::remove_file(to.index());
  } else {
    detail::write_shards(c, to, !before.empty());
    files::remove_file(to.whole());
  }
  const auto now = to.shards();
  for (const auto& shard : before)
    if (now.count(shard) == 0) files::remove_file(shard);
}

}}}  // namespace pinion::v0::train

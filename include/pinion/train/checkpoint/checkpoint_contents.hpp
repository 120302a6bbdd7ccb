// What a checkpoint is to hold, and how it becomes files.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <pinion/files/safetensors.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion::inline v0::train {

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

inline void write_shard(const std::filesystem::path& path, const checkpoint_contents::shard& s,
                        const std::map<std::string, std::string>& notes) {
  std::vector<files::tensor_outline> outlines;
  for (const auto& [name, t] : s.values) outlines.push_back({name, t.pieces[0].dtype(), t.extent});
  files::safetensors_writer writer(path, std::move(outlines), {.metadata = notes});
  for (const auto& [name, t] : s.values) writer.write_pieces(name, t.pieces);
  writer.commit();
}

// Files that are being made; those that no index names go again with it.
class new_shards {
 public:
  explicit new_shards(const checkpoint_files& of) : of_(of) {}
  new_shards(const new_shards&) = delete;
  ~new_shards() {
    try {
      const auto named = of_.shards();
      for (const auto& file : made_)
        if (named.count(file) == 0) files::remove_file(file);
    } catch (const error&) {  // why they are not complete is under way
    }
  }
  void add(const std::filesystem::path& file) { made_.push_back(file); }

 private:
  const checkpoint_files& of_;
  std::vector<std::filesystem::path> made_;
};

// Under names that no shard of an earlier checkpoint of that prefix has, if there is one.
inline void write_shards(const checkpoint_contents& c, const checkpoint_files& to, bool is_another) {
  const std::filesystem::path prefix(c.prefix);
  std::string stem = prefix.filename().string();
  if (is_another) stem += "." + std::to_string(std::random_device{}());
  files::shard_index index;
  new_shards made(to);
  for (std::size_t i = 0; i < c.shards.size(); ++i) {
    const std::string file = files::shard_name(stem, i, c.shards.size());
    made.add(prefix.parent_path() / file);
    write_shard(prefix.parent_path() / file, c.shards[i], c.notes);
    for (const auto& [name, value] : c.shards[i].values) {
      index.weight_map.emplace(name, file);
      for (const any_tensor& piece : value.pieces) index.total_size += piece.bytes();
    }
  }
  files::write_shard_index(to.index(), index);
}

}  // namespace detail

// Makes the files, and their folder where it is not there. A checkpoint of the same prefix stays until the new one is
// whole; of one that does not become whole nothing stays. Errors of the disk are those of files::output_file.
inline void write_checkpoint(const checkpoint_contents& c) {
  files::make_folder(std::filesystem::path(c.prefix).parent_path());
  const checkpoint_files to(c.prefix);
  const auto before = to.shards();
  if (c.shards.size() == 1) {
    detail::write_shard(to.whole(), c.shards[0], c.notes);
    files::remove_file(to.index());
  } else {
    detail::write_shards(c, to, !before.empty());
    files::remove_file(to.whole());
  }
  for (const auto& shard : before) files::remove_file(shard);
}

}  // namespace pinion::inline v0::train

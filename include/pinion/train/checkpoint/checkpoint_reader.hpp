// Reads a checkpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/files/safetensors.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>

namespace pinion::inline v0::train {

// The files of a checkpoint, opened and checked when it is made: not_found, there are none; data_loss, one is damaged,
// or they do not belong together. May be read by several threads.
class checkpoint_reader {
 public:
  explicit checkpoint_reader(const std::string& prefix) {
    if (prefix.empty()) throw error(errc::not_found, "there is no checkpoint to restore: its path is empty");
    const checkpoint_files at(prefix);
    if (std::filesystem::exists(at.index()))
      shards_.emplace(at.index());
    else if (std::filesystem::exists(at.whole()))
      whole_.emplace(at.whole());
    else
      throw error(errc::not_found, "'" + prefix + "' is no checkpoint: there is neither " + at.whole().string() +
                                       " nor " + at.index().string());
  }
  // Null where it has no tensor of the name.
  const files::stored_tensor* find(const std::string& name) const {
    return shards_ ? shards_->find(name) : whole_->find(name);
  }
  std::vector<std::string_view> names() const { return shards_ ? shards_->names() : whole_->names(); }
  any_tensor read(const std::string& name) const { return shards_ ? shards_->read(name) : whole_->read(name); }

 private:
  std::optional<files::sharded_safetensors_reader> shards_;
  std::optional<files::safetensors_reader> whole_;
};

}  // namespace pinion::inline v0::train

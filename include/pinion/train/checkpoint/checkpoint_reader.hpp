// Reads a checkpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/files/safetensors.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The files of a checkpoint, opened and checked when it is made: not_found, there are none; data_loss, one is damaged,
// or they do not belong together. May be read by several threads.
class checkpoint_reader {
 public:
  explicit checkpoint_reader(const std::string& prefix);
  // Null where it has no tensor of the name.
  const files::stored_tensor* find(const std::string& name) const;
  std::vector<std::string_view> names() const { return shards_ ? shards_->names() : whole_->names(); }
  any_tensor read(const std::string& name) const { return shards_ ? shards_->read(name) : whole_->read(name); }

 private:
  std::optional<files::sharded_safetensors_reader> shards_;
  std::optional<files::safetensors_reader> whole_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_reader.ipp>
#endif

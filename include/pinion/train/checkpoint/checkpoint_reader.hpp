// Reads the tensors of a checkpoint, whether it is one file or several shards.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/files/safetensors.hpp>

namespace pinion { inline namespace v0 { namespace train {

// An open checkpoint. It owns its files' handles. The constructor opens and checks all files: not_found, there are
// none; data_loss, a file is damaged, or the shards do not belong together. Several threads may read at once.
class checkpoint_reader {
 public:
  explicit checkpoint_reader(const std::string& prefix);
  // The description of a tensor; null if the checkpoint has none of that name.
  const files::stored_tensor* find(const std::string& name) const;
  // The names of all tensors; they live as long as the reader.
  std::vector<std::string_view> names() const { return shards_ ? shards_->names() : whole_->names(); }
  // Reads a tensor into host memory. Throws not_found if there is none of that name.
  any_tensor read(const std::string& name) const { return shards_ ? shards_->read(name) : whole_->read(name); }

 private:
  std::optional<files::sharded_safetensors_reader> shards_;
  std::optional<files::safetensors_reader> whole_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_reader.ipp>
#endif

// Bodies of <pinion/train/checkpoint/checkpoint_reader.hpp>.
#pragma once

#include <pinion/train/checkpoint/checkpoint_files.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL checkpoint_reader::checkpoint_reader(const std::string& prefix) {
  if (prefix.empty()) throw error(errc::not_found, "there is no checkpoint to restore: its path is empty");
  const checkpoint_files at(prefix);
  if (files::is_there(at.index()))
    shards_.emplace(at.index());
  else if (files::is_there(at.whole()))
    whole_.emplace(at.whole());
  else
    throw error(errc::not_found, "'" + prefix + "' is no checkpoint: there is neither " + at.whole().string() +
                                     " nor " + at.index().string());
}

PINION_DECL const files::stored_tensor* checkpoint_reader::find(const std::string& name) const {
  return shards_ ? shards_->find(name) : whole_->find(name);
}

}}}  // namespace pinion::v0::train

// Bodies of <pinion/data/cache.hpp>.
#pragma once

#include <pinion/data/cache.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL std::shared_ptr<const kept_elements::list> kept_elements::get() const {
  std::lock_guard hold(mutex_);
  return list_;
}

PINION_DECL void kept_elements::offer(list elements) {
  auto mine = std::make_shared<const list>(std::move(elements));
  std::lock_guard hold(mutex_);
  if (!list_) list_ = std::move(mine);
}

PINION_DECL bool cached_cursor::next(any_element& to) {
  if (at_ == list_->size()) return false;
  to = (*list_)[at_++];
  return true;
}

PINION_DECL bool caching_cursor::next(any_element& to) {
  const bool some = from_->next(to);
  if (some)
    seen_.push_back(to);
  else if (!stop_.stop_requested())  // a pass that was stopped looks as if it had ended
    keep_->offer(std::move(seen_));
  return some;
}

PINION_DECL cursor_ptr cache_stage::open(const pass_options& pass) const {
  if (auto list = kept_->get()) return std::make_unique<cached_cursor>(std::move(list));
  return std::make_unique<caching_cursor>(from_->open({0, pass.stop}), kept_, pass.stop);
}

}}}  // namespace pinion::v0::data

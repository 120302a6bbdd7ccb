// Bodies of <pinion/data/pass.hpp>.
#pragma once

#include <pinion/data/cursor.hpp>
#include <pinion/data/pass.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL any_pass::any_pass(cursor_ptr from) : from_(std::move(from)) {}
PINION_DECL any_pass::any_pass(any_pass&&) noexcept = default;
PINION_DECL any_pass& any_pass::operator=(any_pass&&) noexcept = default;
PINION_DECL any_pass::~any_pass() {
  if (!made_in_.is_this()) static_cast<void>(from_.release());  // threads of the parent refer to it
}

PINION_DECL any_element* any_pass::next() {
  if (!from_) return nullptr;
  try {
    if (from_->next(now_)) return &now_;
  } catch (...) {
    from_.reset();
    throw;
  }
  from_.reset();
  return nullptr;
}

}}}  // namespace pinion::v0::data

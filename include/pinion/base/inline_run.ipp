// Bodies of <pinion/base/inline_run.hpp>.
#pragma once

#include <utility>

#include <pinion/base/inline_run.hpp>

namespace pinion { inline namespace v0 { namespace detail {

inline inline_run*& inline_run_of_this_thread() {
  thread_local inline_run* innermost = nullptr;
  return innermost;
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL inline_run::inline_run() : outer_(std::exchange(detail::inline_run_of_this_thread(), this)) {}

PINION_DECL inline_run::~inline_run() {
  detail::inline_run_of_this_thread() = outer_;
}

PINION_DECL inline_run* inline_run::of_this_thread() {
  return detail::inline_run_of_this_thread();
}

}}  // namespace pinion::v0

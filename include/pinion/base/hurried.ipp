// Bodies of <pinion/base/hurried.hpp>.
#pragma once

#include <utility>

#include <pinion/base/hurried.hpp>

namespace pinion { inline namespace v0 { namespace detail {

inline hurried*& hurry_of_this_thread() {
  thread_local hurried* innermost = nullptr;
  return innermost;
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL hurried::hurried() : outer_(std::exchange(detail::hurry_of_this_thread(), this)) {}

PINION_DECL hurried::~hurried() {
  detail::hurry_of_this_thread() = outer_;
}

PINION_DECL hurried* hurried::of_this_thread() {
  return detail::hurry_of_this_thread();
}

}}  // namespace pinion::v0

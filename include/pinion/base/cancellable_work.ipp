// Bodies of <pinion/base/cancellable_work.hpp>.
#pragma once

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace detail {

inline cancellable_work*& work_of_this_thread() {
  thread_local cancellable_work* innermost = nullptr;
  return innermost;
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL cancellable_work::cancellable_work(const cancellation& by)
    : by_(by), outer_(detail::work_of_this_thread()) {
  detail::work_of_this_thread() = this;
}

PINION_DECL cancellable_work::~cancellable_work() {
  detail::work_of_this_thread() = outer_;
}

PINION_DECL void cancellable_work::check() {
  if (const auto* const work = of_this_thread()) work->expect_wanted();
}

PINION_DECL const cancellable_work* cancellable_work::of_this_thread() {
  return detail::work_of_this_thread();
}

PINION_DECL bool cancellable_work::cancelled() const {
  for (const auto* work = this; work; work = work->outer_)
    if (work->by_.cancelled()) return true;
  return false;
}

PINION_DECL void cancellable_work::expect_wanted() const {
  if (cancelled()) throw error(errc::cancelled, "nobody waits for this work any more");
}

}}  // namespace pinion::v0

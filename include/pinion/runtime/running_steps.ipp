// Bodies of <pinion/runtime/running_steps.hpp>.
#pragma once

#include <atomic>
#include <tuple>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/runtime/running_steps.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL running_steps::entered::entered(running_steps& all, step_state& state, const prepared_step& step)
    : in_(all.lanes_[lane_of_this_thread()]), state_(state), step_(step) {
  entered* none = nullptr;
  alone_ = in_.alone.compare_exchange_strong(none, this);
  if (!alone_) join_others();
}

PINION_DECL running_steps::entered::~entered() {
  if (alone_)
    leave_alone();
  else
    leave_others();
}

PINION_DECL void running_steps::entered::leave_alone() {
  in_.alone = nullptr;
  if (!in_.looked_at) return;
  std::lock_guard until_it_has_looked(in_.mutex);
}

PINION_DECL void running_steps::entered::join_others() {
  std::lock_guard hold(in_.mutex);
  behind_ = std::exchange(in_.first, this);
  if (behind_) behind_->before_ = this;
}

PINION_DECL void running_steps::entered::leave_others() {
  std::lock_guard hold(in_.mutex);
  (before_ ? before_->behind_ : in_.first) = behind_;
  if (behind_) behind_->before_ = before_;
}

PINION_DECL std::size_t running_steps::lane_of_this_thread() {
  struct thread_count {
    std::atomic<std::size_t> threads{0};
  };
  thread_local const std::size_t number = of_this_process<thread_count>().threads.fetch_add(1);
  return number % std::tuple_size_v<decltype(running_steps::lanes_)>;
}

template <class Use>
void running_steps::lane::look_at_all(Use use) const {
  std::lock_guard hold(mutex);
  looked_at = true;
  if (entered* const one = alone) use(*one);
  looked_at = false;
  for (entered* one = first; one; one = one->behind_) use(*one);
}

PINION_DECL void running_steps::fail_all(const error& why) {
  for (const lane& l : lanes_) l.look_at_all([&](entered& one) { one.state_.fail(why); });
}

PINION_DECL bool running_steps::none() const {
  return what_runs().count == 0;
}

PINION_DECL running_steps::summary running_steps::what_runs() const {
  summary all;
  for (const lane& l : lanes_)
    l.look_at_all([&](const entered& one) {
      if (!all.first) all.first = &one.step_;
      ++all.count;
    });
  return all;
}

}}}  // namespace pinion::v0::runtime

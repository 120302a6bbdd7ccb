// Bodies of <pinion/base/calls_until_exit.hpp>.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdlib>

#include <pinion/base/calls_until_exit.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL bool is_main_thread() {
  return ::gettid() == ::getpid();
}

PINION_DECL calls_until_exit::calls_until_exit(void (*at_exit)(), void (*in_child)()) : at_exit_(at_exit) {
  ::pthread_atfork(nullptr, nullptr, in_child);
}

PINION_DECL void calls_until_exit::enter() {
  ++running_;
  if (!ending_) return;
  drop();
  throw error(errc::cancelled, "the process is ending, and calls its libraries no more");
}

// exit() calls last what was registered first, and a library makes some of its statics in its first calls: the wait is
// registered again after the first call, the second, the fourth and so on, so that it comes before what destroys them.
// That is for another thread than the main one that calls exit().
PINION_DECL void calls_until_exit::leave() noexcept {
  drop();
  if (std::has_single_bit(++done_) && !ending_) std::atexit(at_exit_);
}

PINION_DECL void calls_until_exit::drop() noexcept {
  if (--running_ > 0 || !ending_) return;
  const std::lock_guard hold(mutex_);
  left_.notify_all();
}

PINION_DECL void calls_until_exit::end() noexcept {
  std::unique_lock hold(mutex_);
  if (ending_.exchange(true)) return;  // it was registered before
  left_.wait_for(hold, std::chrono::seconds(10), [this] { return running_ <= 0; });
}

}}}  // namespace pinion::v0::detail

// Bodies of <pinion/base/stop_signal.hpp>.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <pinion/base/each_process.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/base/stop_signal.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL stop_signals& stop_signals::of_this_process() {
  return of_each_process<stop_signals>();
}

PINION_DECL stop_signals::place stop_signals::add(stop_stage stage, std::function<void(int)> tell) {
  std::lock_guard one_at_a_time(listening_);
  std::lock_guard hold(mutex_);
  if (all_.empty()) open();
  const place at = all_.insert(all_.end(), {stage, std::move(tell), false, false, {}});
  changed_.notify_all();
  return at;
}

PINION_DECL void stop_signals::remove(place at) {
  {
    std::unique_lock hold(mutex_);
    at->begun = true;
    changed_.wait(hold, [&] { return !at->busy; });
  }
  if (at->thread.joinable()) at->thread.join();
  std::lock_guard one_at_a_time(listening_);
  {
    std::lock_guard hold(mutex_);
    all_.erase(at);
    if (!all_.empty()) return changed_.notify_all();
  }
  close();
}

PINION_DECL void stop_signals::handle(int signal) {
  const int before = errno;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::int64_t first = 0;
  if (::getpid() == process_ && asked_at_.compare_exchange_strong(first, std::chrono::nanoseconds(now).count())) {
    asked_ = signal;
    wake();
  } else if (::getpid() != process_ || now - std::chrono::nanoseconds(first) > same_request) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // arrives when this function returns
  }
  errno = before;
}

PINION_DECL void stop_signals::wake() {
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(wakes_, &byte, 1);
}

PINION_DECL void stop_signals::open() {
  begin_in(::getpid());
  int ends[2];
  if (wakes_ < 0) {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail();
    listens_ = ends[0];
    wakes_ = ends[1];  // it stays open, since a handler may be about to write
  }
  quits_ = false;
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    fail();
  }
  if (asked_ != 0)
    wake();
  else
    for (const int signal : {SIGINT, SIGTERM}) take(signal);
}

// A signal that its parent got is none for the child of a fork().
PINION_DECL void stop_signals::begin_in(::pid_t process) {
  if (process_ == process) return;
  wakes_ = -1;
  asked_ = 0;
  asked_at_ = 0;
  process_ = process;
}

PINION_DECL void stop_signals::fail() {
  throw error(errc::resource_exhausted, "there is no pipe or no thread left to hear SIGINT and SIGTERM by");
}

PINION_DECL void stop_signals::close() {
  // Once it was asked, the process keeps its handler: whoever asks may do so twice, and it may be saving meanwhile.
  if (asked_at_ == 0)
    for (const int signal : {SIGINT, SIGTERM}) give_back(signal);
  {
    std::lock_guard hold(mutex_);
    quits_ = true;
  }
  changed_.notify_all();
  wake();
  watcher_.join();
}

PINION_DECL void stop_signals::take(int signal) {
  struct sigaction is {};
  ::sigaction(signal, nullptr, &is);
  if ((is.sa_flags & SA_SIGINFO) || is.sa_handler != SIG_DFL) return;
  is = {};
  is.sa_handler = handle;
  is.sa_flags = SA_RESTART;  // interrupted calls are restarted, since the program may not expect them
  ::sigaction(signal, &is, nullptr);
}

PINION_DECL void stop_signals::give_back(int signal) {
  struct sigaction is {};
  ::sigaction(signal, nullptr, &is);
  if (!(is.sa_flags & SA_SIGINFO) && is.sa_handler == handle) std::signal(signal, SIG_DFL);
}

PINION_DECL void stop_signals::watch() {
  std::unique_lock hold(mutex_);
  while (asked_ == 0 && !quits_) {
    hold.unlock();
    char byte;
    [[maybe_unused]] const auto n = ::read(listens_, &byte, 1);
    hold.lock();
  }
  while (!quits_) {
    tell(stop_stage::saves);
    const bool saved =
        std::none_of(all_.begin(), all_.end(), [](const told& t) { return t.stage == stop_stage::saves && t.busy; });
    if (saved) tell(stop_stage::serves);
    changed_.wait(hold);
  }
}

PINION_DECL void stop_signals::tell(stop_stage stage) {
  for (told& t : all_) {
    if (asked_ == 0 || t.stage != stage || std::exchange(t.begun, true)) continue;
    t.busy = true;
    t.thread = std::thread([this, &t] {
      t.tell(asked_);
      std::lock_guard hold(mutex_);
      t.busy = false;
      changed_.notify_all();
    });
  }
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL std::string_view name_of_stop_signal(int signal) {
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}}  // namespace pinion::v0

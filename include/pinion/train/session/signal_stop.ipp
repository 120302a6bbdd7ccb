// Bodies of <pinion/train/session/signal_stop.hpp>.
#pragma once

#include <fmt/format.h>

#include <pinion/base/countdown.hpp>
#include <pinion/train/session/signal_stop.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL signal_stop::signal_stop(bool listens, const limits& l) : limits_{bounded(l.step), bounded(l.close)} {
  if (!listens) return;
  if (const int before = stop_signal_so_far()) throw stopped_by(before);
  listener_.emplace(stop_stage::saves, [this](int signal) { told(signal); });
}

PINION_DECL void signal_stop::pause(std::chrono::milliseconds length) {
  std::unique_lock hold(mutex_);
  if (changed_.wait_for(hold, length, [this] { return asked(); })) throw stopped();
}

PINION_DECL void signal_stop::closing() {
  std::lock_guard hold(mutex_);
  closing_ = true;
  changed_.notify_all();
}

PINION_DECL void signal_stop::closed() {
  {
    std::lock_guard hold(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  listener_.reset();
}

PINION_DECL error signal_stop::stopped_by(int signal) {
  return {errc::cancelled, fmt::format("{} has asked this program to stop training", name_of_stop_signal(signal))};
}

PINION_DECL void signal_stop::set(session* s, busy::with what) {
  std::lock_guard hold(mutex_);
  session_ = s;
  what_ = what;
  idle_since_ = clock::now();
  changed_.notify_all();
}

PINION_DECL void signal_stop::told(int signal) {
  fmt::print(stderr, "{}: training ends after this step; once more ends the program at once\n",
             name_of_stop_signal(signal));
  std::unique_lock hold(mutex_);
  signal_.store(signal, std::memory_order_release);
  changed_.notify_all();
  const auto began = idle_since_ = clock::now();
  const auto let_go = began + limits_.close;
  while (!closed_ && clock::now() < let_go) {
    if (session_ && (what_ == busy::with::beginning || clock::now() >= began + limits_.step)) cancel();
    if (!session_ && !closing_ && clock::now() >= idle_since_ + limits_.step) return;
    changed_.wait_until(hold, std::min(let_go, next_look(began)));
  }
}

PINION_DECL signal_stop::clock::time_point signal_stop::next_look(clock::time_point began) const {
  // The next look is soon, because the program may begin something else after its step was cancelled.
  const auto soon = clock::now() + std::chrono::milliseconds(100);
  if (session_) return what_ == busy::with::beginning ? soon : std::max(began + limits_.step, soon);
  return closing_ ? clock::time_point::max() : idle_since_ + limits_.step;
}

PINION_DECL void signal_stop::cancel() {
  if (what_ == busy::with::step) return session_->cancel_steps(stopped());
  cut_short_.store(true, std::memory_order_release);
  session_->close();
}

}}}  // namespace pinion::v0::train

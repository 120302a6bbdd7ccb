// Bodies of <pinion/train/coordinator.hpp>.
#pragma once

#include <algorithm>
#include <system_error>

#include <pinion/base/countdown.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL coordinator::~coordinator() {
  if (!in_.get_deleter().made.is_this()) return;
  request_stop();
  for (launched& t : in_->threads) t.thread.join();
}

PINION_DECL bool coordinator::should_stop() const {
  std::lock_guard hold(in_->mutex);
  return in_->stopped;
}

PINION_DECL void coordinator::wait_for_stop() const {
  std::unique_lock hold(in_->mutex);
  in_->changed.wait(hold, [this] { return in_->stopped; });
}

PINION_DECL void coordinator::clear_stop() {
  std::lock_guard hold(in_->mutex);
  in_->stopped = in_->joined = false;
  in_->failure.reset();
}

PINION_DECL std::optional<error> coordinator::failure() const {
  std::lock_guard hold(in_->mutex);
  return in_->failure;
}

PINION_DECL void coordinator::raise_requested_exception() const {
  if (const auto why = failure()) throw *why;
}

PINION_DECL void coordinator::launch(const std::string& name, std::function<void()> body) {
  std::lock_guard hold(in_->mutex);
  in_->joined = false;
  std::erase_if(in_->threads, [](launched& t) {
    if (t.runs) return false;
    t.thread.join();
    return true;
  });
  launched& t = in_->threads.emplace_back();
  t.name = name;
  try {
    t.thread = std::thread([this, &t, body = std::move(body)] { run(t, body); });
  } catch (const std::system_error& e) {
    in_->threads.pop_back();
    throw error(errc::resource_exhausted, "no thread for '" + name + "': " + e.what());
  }
}

PINION_DECL void coordinator::join(const join_options& o) {
  std::unique_lock hold(in_->mutex);
  in_->changed.wait(hold, [this] { return in_->stopped || live().empty(); });
  const bool ended = in_->changed.wait_for(hold, bounded(o.stop_grace_period), [this] { return live().empty(); });
  in_->joined = true;
  if (in_->failure) throw *in_->failure;
  if (!ended && !o.ignore_live_threads)
    throw error(errc::deadline_exceeded,
                "threads still run " +
                    std::to_string(std::chrono::duration_cast<std::chrono::seconds>(o.stop_grace_period).count()) +
                    " s after they were asked to stop: " + live());
}

PINION_DECL void coordinator::run(launched& t, const std::function<void()>& body) {
  try {
    stop_on_exception(body);
  } catch (...) {  // all threads have been joined, so no caller is left to receive it
  }
  std::lock_guard ended(in_->mutex);
  t.runs = false;
  in_->changed.notify_all();
}

PINION_DECL void coordinator::stop(std::optional<error> why) {
  std::lock_guard hold(in_->mutex);
  if (why && std::find(clean_.begin(), clean_.end(), why->code()) != clean_.end()) why.reset();
  if (in_->stopped) {
    if (in_->joined && why) throw *why;
    return;
  }
  in_->stopped = true;
  in_->failure = std::move(why);
  in_->changed.notify_all();
}

PINION_DECL std::string coordinator::live() const {
  std::string names;
  for (const launched& t : in_->threads)
    if (t.runs) names += (names.empty() ? "" : ", ") + ("'" + t.name + "'");
  return names;
}

}}}  // namespace pinion::v0::train

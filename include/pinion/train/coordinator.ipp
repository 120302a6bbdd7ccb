// Bodies of <pinion/train/coordinator.hpp>.
#pragma once

#include <algorithm>
#include <system_error>

#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL coordinator::~coordinator() {
  request_stop();
  for (launched& t : threads_) t.thread.join();
}

PINION_DECL bool coordinator::should_stop() const {
  std::lock_guard hold(mutex_);
  return stopped_;
}

PINION_DECL void coordinator::wait_for_stop() const {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [this] { return stopped_; });
}

PINION_DECL void coordinator::clear_stop() {
  std::lock_guard hold(mutex_);
  stopped_ = joined_ = false;
  failure_.reset();
}

PINION_DECL std::optional<error> coordinator::failure() const {
  std::lock_guard hold(mutex_);
  return failure_;
}

PINION_DECL void coordinator::raise_requested_exception() const {
  if (const auto why = failure()) throw *why;
}

PINION_DECL void coordinator::launch(const std::string& name, std::function<void()> body) {
  std::lock_guard hold(mutex_);
  joined_ = false;
  std::erase_if(threads_, [](launched& t) {
    if (t.runs) return false;
    t.thread.join();
    return true;
  });
  launched& t = threads_.emplace_back();
  t.name = name;
  try {
    t.thread = std::thread([this, &t, body = std::move(body)] { run(t, body); });
  } catch (const std::system_error& e) {
    threads_.pop_back();
    throw error(errc::resource_exhausted, "no thread for '" + name + "': " + e.what());
  }
}

PINION_DECL void coordinator::join(const join_options& o) {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [this] { return stopped_ || live().empty(); });
  const bool ended = changed_.wait_for(hold, o.stop_grace_period, [this] { return live().empty(); });
  joined_ = true;
  if (failure_) throw *failure_;
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
  std::lock_guard ended(mutex_);
  t.runs = false;
  changed_.notify_all();
}

PINION_DECL void coordinator::stop(std::optional<error> why) {
  std::lock_guard hold(mutex_);
  if (why && std::find(clean_.begin(), clean_.end(), why->code()) != clean_.end()) why.reset();
  if (stopped_) {
    if (joined_ && why) throw *why;
    return;
  }
  stopped_ = true;
  failure_ = std::move(why);
  changed_.notify_all();
}

PINION_DECL std::string coordinator::live() const {
  std::string names;
  for (const launched& t : threads_)
    if (t.runs) names += (names.empty() ? "" : ", ") + ("'" + t.name + "'");
  return names;
}

}}}  // namespace pinion::v0::train

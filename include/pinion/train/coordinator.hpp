// Stops several threads together: any of them may ask for it, and what failed first is thrown to who joins them.
// Rules: TensorFlow 1.15, coordinator.py.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct join_options {
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);  // for threads to end after the stop
  bool ignore_live_threads = false;  // otherwise those that still run then are an error that names them
};

// Owns the threads it launched. Thread-safe. Its destructor asks for the stop and waits for the threads, however long
// they take: a thread has to look at should_stop(), or to be woken by what it waits for.
class coordinator {
 public:
  // An error of one of these codes is a reason to stop, but none to throw.
  explicit coordinator(std::vector<errc> clean_stop = {errc::out_of_range}) : clean_(std::move(clean_stop)) {}
  coordinator(const coordinator&) = delete;
  ~coordinator();

  // Asks all to stop. What is given first is thrown by join(), unless its code is one of a clean stop; what comes after
  // the stop was asked for is a consequence of it, and is dropped; after join() it is thrown at once.
  void request_stop() { stop(std::nullopt); }
  void request_stop(const std::exception& why) { stop(as_error(why)); }

  bool should_stop() const;
  // True once somebody has asked, false if nobody has until then.
  template <class Duration>
  bool wait_for_stop(Duration at_most) const {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, at_most, [this] { return stopped_; });
  }
  void wait_for_stop() const;
  // As if nobody had asked. Requires: joined.
  void clear_stop();
  // Why all were stopped, if that was an error.
  std::optional<error> failure() const;
  void raise_requested_exception() const;

  // A thread that runs a function once; what it throws stops all. The name is for messages.
  void launch(const std::string& name, std::function<void()> body);
  // Runs a function in this thread; what it throws stops all and, unless they were joined, goes no further.
  template <class F>
  void stop_on_exception(F&& body) {
    try {
      body();
    } catch (...) {
      request_stop(current_error());
    }
  }

  // Waits until all threads have ended, or until a stop was asked for and then for the grace period. Then throws what
  // stopped them, or deadline_exceeded, naming those that still run.
  void join(const join_options& o = {});

 private:
  struct launched {
    std::string name;
    bool runs = true;
    std::thread thread;
  };

  void run(launched& t, const std::function<void()>& body);
  void stop(std::optional<error> why);
  // The names of the threads that run. Requires: the lock.
  std::string live() const;

  const std::vector<errc> clean_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopped_ = false, joined_ = false;
  std::optional<error> failure_;
  std::list<launched> threads_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/coordinator.ipp>
#endif

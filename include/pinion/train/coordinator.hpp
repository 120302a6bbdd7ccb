// A coordinator stops several threads together: any of them may ask for the stop, and the first failure is thrown to
// the thread that joins them. Rules: TensorFlow 1.15, coordinator.py.
//
//   tr::coordinator coord;
//   coord.launch("loader", [&] { while (!coord.should_stop()) load(); });
//   coord.request_stop();
//   coord.join();                                                   // throws the first failure
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
#include <pinion/base/each_process.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of coordinator::join.
struct join_options {
  // join() waits this long for the threads to end, counted from the stop, or from its call if that comes later.
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);
  // When the grace period is over, a thread that still runs is an error that names it, unless this is true.
  bool ignore_live_threads = false;
};

// A coordinator launches threads, tells them when to stop and collects the first failure among them. It owns the
// threads that it launched. Thread-safe: members may be called by any thread, and by the launched ones too, except that
// these must not call join() or the destructor, which wait for them. The destructor asks for the stop and waits for the
// threads without a limit, so every thread has to look at should_stop(), or wait for something that the stop ends.
class coordinator {
 public:
  // An error whose code is in `clean_stop` stops the threads, but join() does not throw it: by default the end of the
  // input, out_of_range, is such an ordinary end.
  explicit coordinator(std::vector<errc> clean_stop = {errc::out_of_range})
      : clean_(std::move(clean_stop)), in_(new inside) {}
  coordinator(const coordinator&) = delete;
  ~coordinator();

  // Asks all threads to stop. The error that comes with the first request is thrown by join(), unless its code is one
  // of a clean stop. An error that comes with a later request is taken for a consequence of the first and is dropped;
  // after join() it is thrown at once, to the caller.
  void request_stop() { stop(std::nullopt); }
  void request_stop(const std::exception& why) { stop(as_error(why)); }

  // True once a stop was asked for.
  bool should_stop() const;
  // Waits for the stop, but no longer than a duration. Returns true once somebody has asked for it, and false if nobody
  // has until then.
  template <class Duration>
  bool wait_for_stop(Duration at_most) const {
    std::unique_lock hold(in_->mutex);
    return in_->changed.wait_for(hold, at_most, [this] { return in_->stopped; });
  }
  // Waits for the stop without a limit.
  void wait_for_stop() const;
  // Forgets the stop and its failure, so that threads can be launched anew. Requires: the threads were joined.
  void clear_stop();
  // The error that stopped the threads; nothing if none has, or if its code is one of a clean stop.
  std::optional<error> failure() const;
  // Throws failure(), if there is one.
  void raise_requested_exception() const;

  // Starts a thread that calls a function once; an exception of the function stops all threads. The name appears in the
  // message about threads that do not end. Throws resource_exhausted if the system gives no thread.
  //
  //   coord.launch("reader", [&] { while (!coord.should_stop()) sess.run(put); });
  void launch(const std::string& name, std::function<void()> body);
  // Calls a function in the caller's thread. Its exception becomes the reason of the stop and is not passed on; only
  // when the threads were joined before, it is thrown to the caller.
  template <class F>
  void stop_on_exception(F&& body) {
    try {
      body();
    } catch (...) {
      request_stop(current_error());
    }
  }

  // Waits until all threads have ended; once a stop was asked for, it waits for the grace period and no longer. Then it
  // throws the failure that stopped the threads, if there is one, or else deadline_exceeded, which names the threads
  // that still run.
  void join(const join_options& o = {});

 private:
  // A thread with its name.
  struct launched {
    std::string name;
    bool runs = true;
    std::thread thread;
  };

  // The body of a launched thread.
  void run(launched& t, const std::function<void()>& body);
  // Asks for the stop, with a reason or without.
  void stop(std::optional<error> why);
  // The quoted names of the threads that run, separated by commas. Requires: the lock is held.
  std::string live() const;

  // The threads share this. In the child of a fork() it stays: who waits there is in the parent.
  struct inside {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false, joined = false;
    std::optional<error> failure;
    std::list<launched> threads;
  };

  const std::vector<errc> clean_;
  const std::unique_ptr<inside, delete_where_made> in_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/coordinator.ipp>
#endif

// Calls into a library whose statics the end of the process destroys, while threads may still be in it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

// A call lives while a thread is in the library. exit() waits for the calls that run before it destroys the library's
// statics, ten seconds at most, and later calls throw cancelled. The child of a fork waits for nobody. Library is a
// tag, one for each library. Thread-safe.
//
//   const library_call<onednn> here;
template <class Library>
class library_call;

namespace detail {

bool is_main_thread();

class calls_until_exit {
 public:
  // `at_exit` calls end() of this object, and `in_child` forget().
  calls_until_exit(void (*at_exit)(), void (*in_child)());
  // Throws cancelled while the process ends.
  void enter();
  void leave() noexcept;
  // Waits for the calls that run.
  void end() noexcept;
  // The child of a fork has none of the threads that were in the library.
  void forget() noexcept { running_ = 0; }

 private:
  void drop() noexcept;

  void (*const at_exit_)();
  std::mutex mutex_;
  std::condition_variable left_;
  std::atomic<std::int64_t> running_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> ending_{false};
};

}  // namespace detail

template <class Library>
class library_call {
 public:
  library_call() {
    static_cast<void>(&is_watched_);
    all().enter();
  }
  library_call(const library_call&) = delete;
  ~library_call() { all().leave(); }

 private:
  struct calls : detail::calls_until_exit {
    calls() : calls_until_exit([] { all().end(); }, [] { all().forget(); }) {}
  };
  static calls& all() { return of_this_process<calls>(); }

  // exit() destroys what is local to its thread before it calls anything: what the main thread registers there comes
  // before the destructors of statics, those too that a call makes which is under way.
  struct first_at_exit {
    first_at_exit() = default;
    ~first_at_exit() {
      if (detail::is_main_thread()) std::atexit([] { all().end(); });
    }
  };
  static bool watch() {
    thread_local const first_at_exit here;
    static_cast<void>(&here);  // this constructs it
    return true;
  }
  inline static const bool is_watched_ = watch();  // in the thread that starts the program
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/calls_until_exit.ipp>
#endif

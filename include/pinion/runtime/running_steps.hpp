// The steps of a session that are under way.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/step/executor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The runs of steps under way. Threads enter their runs in lanes of their own as far as there are enough, so that they
// do not meet, and the only run of a lane enters and leaves it without the lock. Owned by its session. Thread-safe.
class running_steps {
 public:
  struct entered;

  // Fails every run that is entered. A run that enters meanwhile may be missed.
  void fail_all(const error& why);
  bool none() const;
  // The number of runs, and the step of one of them; 0 and null where there is none.
  struct summary {
    std::size_t count = 0;
    const prepared_step* first = nullptr;
  };
  summary what_runs() const;

 private:
  struct alignas(64) lane {
    std::atomic<entered*> alone{nullptr};
    // A thread that looks at the runs of a lane says so before it reads `alone`, and a run that was alone reads this
    // after it has left: so the thread does not see the run, or the run waits for the lock.
    mutable std::atomic<bool> looked_at{false};
    mutable std::mutex mutex;
    entered* first = nullptr;  // of the other runs, under the lock

    template <class Use>
    void look_at_all(Use use) const;
  };
  static std::size_t lane_of_this_thread();

  std::array<lane, 16> lanes_;
};

// A run, from its construction to its destruction in the thread that runs it. Refers to the state and the step.
struct running_steps::entered {
  entered(running_steps& all, step_state& state, const prepared_step& step);
  entered(const entered&) = delete;
  ~entered();

 private:
  friend class running_steps;
  void leave_alone();
  void join_others();
  void leave_others();

  lane& in_;
  step_state& state_;
  const prepared_step& step_;
  bool alone_ = false;
  entered *before_ = nullptr, *behind_ = nullptr;  // among the others
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/running_steps.ipp>
#endif

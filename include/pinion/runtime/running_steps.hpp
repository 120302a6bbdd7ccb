// The steps of a session that are under way.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/step/executor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The runs of steps under way. Threads enter their runs in lanes of their own as far as there are enough, so that they
// meet in no lock. Owned by its session. Thread-safe.
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
    mutable std::mutex mutex;
    entered* first = nullptr;
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
  lane& in_;
  step_state& state_;
  const prepared_step& step_;
  entered *before_ = nullptr, *behind_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/running_steps.ipp>
#endif

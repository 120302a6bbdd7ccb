// The times in which the values of a traced run have memory.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/step_tracer.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Notes when the slots of one run of an executable have values. Belongs to the run; the executable and the tracer
// outlive it. Thread-safe, except for tell().
class value_lives {
 public:
  value_lives(const executable& e, step_tracer& into)
      : e_(e), into_(into), lives_(static_cast<std::size_t>(e.slots)), fetched_(lives_.size()) {}

  // An item has run: it took memory for its outputs, which are in the slots now, at `from`, and was done with its
  // inputs at `until`.
  void note(const executable_item& it, std::span<const any_tensor> slots, const trace_moment& from,
            const trace_moment& until);
  // The run has ended. Tells the tracer of all lives; call it last.
  void tell();

 private:
  const executable& e_;
  step_tracer& into_;
  std::mutex mutex_;
  std::vector<held_memory> lives_;  // by slot; no block: none so far
  std::vector<bool> fetched_;       // by slot: does the value outlive its readers?
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/value_lives.ipp>
#endif

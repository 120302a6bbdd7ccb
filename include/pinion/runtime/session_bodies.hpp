// Compiles the bodies of control flow into steps that run inside the steps of a session.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/step/rendezvous.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Places bodies by the simple placer on the devices of one task, preferring the device of the node that owns the body.
// Kernels of stateful ops are the session's. Refers to the task. Thread-safe.
class session_bodies final : public body_compiler, public std::enable_shared_from_this<session_bodies> {
 public:
  // `check_values`: for steps that look for NaN and infinities.
  session_bodies(task& on, std::shared_ptr<session_kernels> kernels, bool soft, bool check_values = false)
      : task_(on), kernels_(std::move(kernels)), soft_(soft), check_values_(check_values) {}

  std::shared_ptr<nested_step> compile(const body& b, const std::vector<output>& results, const node& caller,
                                       const devices::device& on) override;

 private:
  placement place(const body& b, const step_signature& s, const node& caller, const devices::device& on) const;

  task& task_;
  const std::shared_ptr<session_kernels> kernels_;
  const bool soft_, check_values_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/session_bodies.ipp>
#endif

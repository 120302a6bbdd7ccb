// The backend of a session: one interface for sessions of this process and sessions on a cluster.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>
#include <pinion/placement/cost/measured_costs.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/runtime/memory_use.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/runtime/step/signature.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

class partial_run_backend;

// A step that is ready to run. Owned by the backend that made it.
class prepared_step {
 public:
  virtual ~prepared_step() = default;
};

// The implementation of a session. Owned by its session; links share it while they run a step. Thread-safe. The child
// of a fork() neither closes nor destroys its copy.
class session_backend {
 public:
  virtual ~session_backend() = default;
  bool is_of_this_process() const { return made_in_.is_this(); }
  // Throws failed_precondition, with the line of the first close(), if the session is closed. The functions below do so
  // too, except run(): the holder of a step was there before the session was closed. A call that close() finds under
  // way ends with closed_meanwhile().
  virtual void expect_open() const = 0;
  // Compiles a step, or finds it compiled.
  virtual std::shared_ptr<prepared_step> prepare(const step_signature& signature) = 0;
  // Runs a prepared step. Feeds and results are host tensors in the order of the signature, except for feeds that
  // signature.feed_devices places elsewhere; the feeds are moved out. Records the step in `trace` unless it is null.
  // Throws the first failure.
  virtual void run(prepared_step& step, std::span<any_tensor> feeds, std::span<any_tensor> results,
                   step_trace* trace) = 0;
  // Begins a partial run of a step, which it compiles, or finds compiled. The run ends when all has run, or with the
  // first failure; close() and cancel_steps() fail it.
  virtual std::shared_ptr<partial_run_backend> begin_partial_run(const step_signature& signature) = 0;
  virtual pinion::plan plan(const step_signature& signature) = 0;
  virtual std::vector<device_info> list_devices() = 0;
  virtual pinion::measured_costs measured_costs() = 0;
  virtual memory_use memory() = 0;
  // Copies a host tensor to the memory of the first device that fits, and returns the device's name; the name is "" if
  // no copy is needed.
  virtual std::pair<any_tensor, std::string> to_device(const any_tensor& value, const device_spec& where) = 0;
  // Fails the running steps and waits for nothing; later steps run.
  virtual void cancel_steps(const error& why) = 0;
  // Cancels the running steps, waits for them, and refuses later calls with an error that names the line `where` of the
  // first close().
  virtual void close(source_location where) = 0;

 protected:
  const process_mark made_in_;
};

// Returns the error of a call that was ended because its session was closed; its code is cancelled.
error closed_meanwhile();

// The functions behind the target scheme pinion://. Has static lifetime.
struct remote_scheme {
  std::unique_ptr<session_backend> (*make_session)(const session_options&, graph&);
  void (*reset)(const std::string& target, const std::vector<std::string>& containers, const security_options&);
};
// Makes a scheme the one that sessions of this process use from now on, and returns the one before; null: none.
// <pinion/distributed.hpp> enters its own before main(). Thread-safe.
const remote_scheme* enter_remote_scheme(const remote_scheme* scheme);
// Returns the scheme of this process for a target. Throws invalid_argument for a target of another form,
// failed_precondition if there is no scheme, since no unit of the program includes <pinion/distributed.hpp>.
// Thread-safe.
const remote_scheme& remote_scheme_of(const std::string& target);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/backend.ipp>
#endif

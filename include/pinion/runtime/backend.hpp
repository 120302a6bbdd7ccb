// What stands behind a session: one interface for this process and for a cluster.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/measured_costs.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/runtime/step/signature.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A step made ready; kept by callables. Belongs to the backend that made it.
class prepared_step {
 public:
  virtual ~prepared_step() = default;
};

// Thread-safe. Owned by its session.
class session_backend {
 public:
  virtual ~session_backend() = default;
  // Compiles a step, or finds it compiled.
  virtual std::shared_ptr<prepared_step> prepare(const step_signature& signature) = 0;
  // Runs it; feeds and results are host tensors in the order of the signature. Null, or where to write it down. The
  // first failure is thrown.
  virtual void run(prepared_step& step, std::span<const any_tensor> feeds, std::span<any_tensor> results,
                   step_trace* trace) = 0;
  virtual pinion::plan plan(const step_signature& signature) = 0;
  virtual std::vector<device_info> list_devices() = 0;
  virtual pinion::measured_costs measured_costs() = 0;
  // A host tensor in the memory of the first device that a spec fits, and that one's name: "" where the value needs no
  // copy to be there.
  virtual std::pair<any_tensor, std::string> to_device(const any_tensor& value, const device_spec& where) = 0;
  // Fails what runs, and waits for nothing; what comes runs.
  virtual void cancel_steps(const error& why) = 0;
  // Cancels what runs, waits for it, and refuses what comes, with a word on the line that closed it first.
  virtual void close(source_location where) = 0;
};

// What fills the scheme pinion:// ; null where no unit of the program includes <pinion/distributed.hpp>.
struct remote_scheme {
  std::unique_ptr<session_backend> (*make_session)(const session_options&, graph&) = nullptr;
  void (*reset)(const std::string& address, const std::vector<std::string>& containers,
                const security_options&) = nullptr;
};
remote_scheme& remote_sessions();
// The same for a target, whose form it checks.
const remote_scheme& remote_scheme_of(const std::string& target);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/backend.ipp>
#endif

// The port of a client to its session at a master.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/session_partial_run.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The client's access to its session at a master. Calls block the calling thread; `until` and `limits` say for how
// long. Thread-safe.
class session_port {
 public:
  virtual ~session_port() = default;
  virtual void extend(graph_delta delta, deadline until) = 0;
  virtual prepared_reply prepare(const runtime::step_signature& signature, const call_limits& limits,
                                 prepare_options how) = 0;
  virtual pinion::plan plan(const runtime::step_signature& signature, const call_limits& limits) = 0;
  virtual run_result run(std::uint64_t step, std::vector<any_tensor> feeds, bool trace, deadline until) = 0;
  // Partial runs: each goes by the number that begin_partial_run() returns.
  virtual std::uint64_t begin_partial_run(std::uint64_t step, deadline until) = 0;
  virtual std::vector<any_tensor> continue_partial_run(std::uint64_t run, partial_call t, deadline until) = 0;
  virtual void end_partial_run(std::uint64_t run) = 0;  // waits for nothing
  virtual std::vector<device_info> devices(const call_limits& limits) = 0;
  virtual void cancel_steps(const error& why) = 0;
  virtual void close() = 0;
};

// Throws data_loss unless the values are of the types that were fetched: a master may send anything.
void expect_fetches(const std::vector<output_type>& fetched, const std::vector<any_tensor>& values);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/session_port.ipp>
#endif

// A partial run on devices of this process.
//
// Invariants
//   1. It lives until the step has ended, whoever lets go of it before; its session waits for that when it is closed.
//   2. Once the step has ended it refers to nothing of its session.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/partial_run_backend.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/rendezvous.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The values go through a rendezvous to and from a step that was compiled for it, see step/partial.hpp. No thread is
// held between two calls. Shared by its user and, until the step has ended, by the step.
class local_partial_run final : public partial_run_backend, public std::enable_shared_from_this<local_partial_run> {
 public:
  // `number` is that of the step; `limit` is how long one call may wait, 0: without a limit.
  local_partial_run(std::shared_ptr<compiled_step> step, std::int64_t number, std::chrono::milliseconds limit)
      : step_(std::move(step)), limit_(limit), state_(meet_, number) {}

  // Makes a step that was cut with tell_targets one for such runs.
  static void make_partial(std::vector<partition>& parts, const step_signature& s);

  // Runs what needs no feed. `ended` is called once, in any thread, when the step has ended.
  void begin(std::function<void()> ended);

  void feed(std::size_t number, any_tensor value) override;
  std::vector<any_tensor> await(std::span<const std::size_t> fetches, std::span<const std::size_t> targets) override;
  void expect_well() const override;
  void fail(const error& why) override { state_.fail(why); }

 private:
  struct arrivals;
  std::shared_ptr<arrivals> receive(const std::vector<transfer_key>& keys);
  std::optional<std::chrono::steady_clock::time_point> deadline() const;

  std::shared_ptr<compiled_step> step_;  // null once it has ended
  const std::chrono::milliseconds limit_;
  local_rendezvous meet_;
  step_state state_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/local_partial_run.ipp>
#endif

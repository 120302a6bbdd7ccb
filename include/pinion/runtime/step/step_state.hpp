// The state that the partitions of a running step share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/runtime/step/step_tracer.hpp>
#include <pinion/runtime/step/wrong_values.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A part of a step, which is asked what is under way in it.
class step_part {
 public:
  virtual ~step_part() = default;
  // Adds the names of nodes that have begun, or may, and have not ended, to at most so many.
  virtual void list_under_way(std::vector<std::string>& names, std::size_t most) const = 0;
};

// The state that the partitions of one step share. The first failure wins and stops the others. Owned by the code that
// runs the step. Its functions are thread-safe.
class step_state final : public step_watch {
 public:
  // `line_in_pool` tells whose share of the task's threads the step uses.
  explicit step_state(pinion::rendezvous& meet, std::int64_t number, std::uint64_t line_in_pool = 0)
      : rendezvous(&meet), step(number), line(line_in_pool) {}

  pinion::rendezvous* rendezvous;
  pinion::cancellation cancellation;
  std::int64_t step;
  const std::uint64_t line;
  // Values are moved out of the feeds and into the fetches. The code that runs the step owns both.
  std::span<any_tensor> feeds, fetches;
  step_tracer* tracer = nullptr;  // records the run; null: it is not traced

  // The time by which the step must have ended, if there is a limit.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Fails the step where that time has come. `last` is the node that ran before, where nodes run in order.
  void check_deadline(const node* last = nullptr);
  std::optional<std::chrono::steady_clock::time_point> time_limit() const override { return deadline; }
  // The error of a step that is late, which names what has begun in it and has not ended, or the node that ran last.
  error too_late(const node* last = nullptr) const;

  // The step around this one, which fails this one too; null for a step that a session runs.
  const step_watch* within = nullptr;

  bool failed() const override { return failed_.load(std::memory_order_acquire) || (within && within->failed()); }
  void fail(const error& why) override;
  // The first failure; null: there is none so far.
  shared_error failure() const;
  // Ends the step: fail() does nothing from now on. Returns the failure, which is final.
  shared_error end();
  // Why a step with this failure is cancelled.
  static pinion::cancellation::reason reason_of(const error& failure);

  cuda::first_wrong* expect_values(devices::device& on, describe_wrong describe) override;
  cuda::wrong_places wrong_so_far(devices::device& on) override;
  void add_expected(devices::device& on, const any_tensor& places, std::vector<describe_wrong> describe) override;
  // Returns the names of nodes that have begun, or may, and have not ended, at most so many; of a step whose items
  // wait.
  std::vector<std::string> under_way(std::size_t most) const;
  // Returns the names of the first few in one text, ", " between them; "" if there is none.
  std::string where() const;

  // Gives away the places of a device; nothing: no kernel has asked for one since.
  std::optional<wrong_values> take_wrong_values(const devices::device& of);

  // A part of the step, from the time when it can be asked what is under way in it until it cannot.
  void add_part(const step_part& part);
  void remove_part(const step_part& part);

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> failed_{false};
  shared_error failure_;
  bool ended_ = false;
  std::map<const devices::device*, wrong_values> wrong_values_;
  std::vector<const step_part*> parts_;
};

// Returns the name of a node that runs, as messages give it: 'y' (MatMul).
std::string running_node(const node& n);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/step_state.ipp>
#endif

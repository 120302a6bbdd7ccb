// The gradients of one variable from several replicas, kept apart until it is decided which of them count.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/opkit/kernel.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The contribution of one replica: a dense gradient, or rows at indices.
struct contribution {
  any_tensor dense, indices, rows;
  bool is_sparse() const { return !indices.empty(); }
  contribution kept() && {
    return {pinion::kept(std::move(dense)), pinion::kept(std::move(indices)), pinion::kept(std::move(rows))};
  }
};

// Owned by the task's resource manager and by the kernels that use it. Thread-safe. A contribution is kept under its
// step and ticket until that step is taken; one of a step that is over is dropped when it arrives.
class accumulator final : public resource {
 public:
  explicit accumulator(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  // Keeps a contribution, in memory of this process. It replaces an earlier one with the same step and ticket.
  void add(std::int64_t step, std::int64_t ticket, contribution given) {
    given = std::move(given).kept();
    std::lock_guard hold(mutex_);
    if (step < next_) return;
    kept_[{step, ticket}] = std::move(given);
  }
  // Takes the contributions of a step, in the order of the tickets, and drops all others of this and earlier steps.
  // Throws failed_precondition where one is missing.
  std::vector<contribution> take(std::int64_t step, std::span<const std::int64_t> tickets) {
    std::lock_guard hold(mutex_);
    std::vector<contribution> taken;
    for (const std::int64_t ticket : tickets) {
      const auto at = kept_.find({step, ticket});
      if (at == kept_.end())
        throw error(errc::failed_precondition, "the gradients of step " + std::to_string(step) + " at '" + name_ +
                                                   "' lack one that was said to be there");
      taken.push_back(at->second);
    }
    next_ = step + 1;
    kept_.erase(kept_.begin(), kept_.lower_bound({next_, std::numeric_limits<std::int64_t>::min()}));
    return taken;
  }
  // Drops contributions of steps before this one, from now on. Those of this step that have arrived stay, since their
  // replicas may be about to commit them.
  void set_step(std::int64_t step) {
    std::lock_guard hold(mutex_);
    next_ = step;
    std::erase_if(kept_, [step](const auto& one) { return one.first.first != step; });
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::int64_t next_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, contribution> kept_;
};

}}}  // namespace pinion::v0::state

// A graph of small tasks, run by hand: each counts the tasks that it waits for, and the last of them starts it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace bench {

// The inputs of each task, which come before it. All of them lead to the last task.
using task_inputs = std::vector<std::vector<int>>;

// One thread runs it. It takes the task that it made ready last, without a queue where it can. The counters are atomic,
// as those of a graph for several threads have to be.
class counted_graph {
 public:
  counted_graph(const task_inputs& inputs, std::vector<std::function<void()>> bodies)
      : bodies_(std::move(bodies)), begin_(inputs.size() + 1), waits_(inputs.size()), left_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      waits_[i] = static_cast<int>(inputs[i].size());
      if (inputs[i].empty()) first_.push_back(static_cast<int>(i));
      for (const int from : inputs[i]) ++begin_[static_cast<std::size_t>(from) + 1];
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    next_.resize(static_cast<std::size_t>(begin_.back()));
    auto at = begin_;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (const int from : inputs[i])
        next_[static_cast<std::size_t>(at[static_cast<std::size_t>(from)]++)] = static_cast<int>(i);
  }

  void run() {
    for (std::size_t i = 0; i < waits_.size(); ++i) left_[i].store(waits_[i], std::memory_order_relaxed);
    ready_.assign(first_.begin(), first_.end());
    while (!ready_.empty()) {
      int task = ready_.back();
      ready_.pop_back();
      while (task >= 0) task = run_one(static_cast<std::size_t>(task));
    }
  }

 private:
  // Returns a task to go on with, or -1.
  int run_one(std::size_t task) {
    bodies_[task]();
    int going_on = -1;
    for (int e = begin_[task]; e < begin_[task + 1]; ++e) {
      const int next = next_[static_cast<std::size_t>(e)];
      if (left_[static_cast<std::size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (going_on >= 0)
        ready_.push_back(next);
      else
        going_on = next;
    }
    return going_on;
  }

  std::vector<std::function<void()>> bodies_;
  std::vector<int> begin_, next_, first_, waits_, ready_;
  std::vector<std::atomic<int>> left_;
};

}  // namespace bench

// Where a step spends its time: the step a session with one thread would run, with a clock around every kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/device/cpu.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/executor.hpp>
#include <pinion/runtime/prune.hpp>
#include <pinion/runtime/rendezvous.hpp>
#include <pinion/runtime/resource_manager.hpp>

namespace bench {

using clock = std::chrono::steady_clock;
inline double since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

class step_profile {
 public:
  struct entry {
    std::int64_t calls = 0;
    double seconds = 0;
  };

  explicit step_profile(const pinion::graph& g) : graph_(g) {}

  // Runs a step `times` over; what it needs of variables must have been given by an earlier one.
  void run(const pinion::runtime::step_signature& signature, const std::vector<pinion::any_tensor>& feeds, int times) {
    namespace rt = pinion::runtime;
    pinion::placement_problem problem{graph_, rt::prune(graph_, signature), {{cpu_.spec(), cpu_.name(), 0, ""}}, {},
                                      cpu_.spec(), false};
    auto parts = rt::partitioner(graph_, pinion::simple_placer{}(problem), signature, 0).run();
    const rt::executable step(std::move(parts.at(0)), graph_, cpu_, services_,
                              [this](const pinion::kernel_setup& s) { return timed(s); });
    items_ = static_cast<int>(step.items.size());
    for (int i = 0; i < times; ++i) {
      const auto start = clock::now();
      rt::local_rendezvous meet;
      rt::step_state state(meet, i);
      state.feeds = feeds;
      state.fetches.resize(signature.fetches.size());
      if (!memory_) memory_ = std::make_unique<rt::run_memory>(step);
      rt::executor(step, *memory_, services_, state, nullptr).run_in_order();
      if (const auto failure = state.failure()) throw *failure;
      seconds_ += since(start);
      ++steps_;
    }
    memory_.reset();
  }

  void forget() {
    for (auto& [op, e] : entries_) e = {};
    seconds_ = 0;
    steps_ = 0;
  }

  const std::map<std::string, entry>& by_op() const { return entries_; }
  double seconds() const { return seconds_; }
  int steps() const { return steps_; }
  int items() const { return items_; }

 private:
  struct timed_kernel final : pinion::kernel {
    std::shared_ptr<pinion::kernel> inner;
    entry* into;
    timed_kernel(std::shared_ptr<pinion::kernel> k, entry* e) : inner(std::move(k)), into(e) {}
    void run(pinion::kernel_context& c) override {
      const auto start = clock::now();
      inner->run(c);
      into->seconds += since(start);
      ++into->calls;
    }
  };
  std::shared_ptr<pinion::kernel> timed(const pinion::kernel_setup& s) {
    return std::make_shared<timed_kernel>(pinion::make_kernel_for(s), &entries_[s.node.op]);
  }

  const pinion::graph& graph_;
  pinion::devices::cpu_device cpu_{pinion::parse_device("/job:localhost/replica:0/task:0/device:CPU:0")};
  pinion::runtime::local_resource_manager resources_;
  pinion::thread_pool alone_{0};
  pinion::task_services services_{&resources_, &alone_};
  std::unique_ptr<pinion::runtime::run_memory> memory_;
  std::map<std::string, entry> entries_;
  double seconds_ = 0;
  int steps_ = 0, items_ = 0;
};

}  // namespace bench

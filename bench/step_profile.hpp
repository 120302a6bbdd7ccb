// Where a step spends its time: the step a session with one thread would run, with a clock around every kernel.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/device/cpu.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/resource_manager.hpp>
#include <pinion/runtime/step/in_order_run.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/runtime/step/rendezvous.hpp>

#include "call_times.hpp"

namespace bench {

class step_profile {
 public:
  explicit step_profile(pinion::graph& g) : graph_(g) {}

  // Runs a step `times` over; what it needs of variables must have been given by an earlier one.
  void run(const pinion::runtime::step_signature& signature, const std::vector<pinion::any_tensor>& feeds, int times) {
    namespace rt = pinion::runtime;
    const pinion::placement_problem problem{
        .graph = graph_, .nodes = rt::prune(graph_, signature), .devices = {{cpu_.spec(), cpu_.name()}}};
    auto parts = rt::cut_by_device(graph_, pinion::simple_placer{}(problem), signature, 0);
    const rt::executable step(std::move(parts.at(0)), graph_, cpu_, services_, nullptr,
                              [this](const pinion::kernel_setup& s) { return timed(s); });
    items_ = static_cast<int>(step.items.size());
    rt::run_memory memory(step);
    for (int i = 0; i < times; ++i) {
      times_.begin_step();
      rt::local_rendezvous meet;
      rt::step_state state(meet, i);
      std::vector<pinion::any_tensor> fed = feeds, fetched(signature.fetches.size());
      state.feeds = fed;
      state.fetches = fetched;
      rt::in_order_run(step, memory, services_, state).run();
      if (const auto failure = state.failure()) throw *failure;
      times_.end_step();
    }
  }

  call_times& times() { return times_; }
  int items() const { return items_; }

 private:
  struct timed_kernel final : pinion::kernel {
    std::shared_ptr<pinion::kernel> inner;
    std::string op;
    call_times* times;
    timed_kernel(std::shared_ptr<pinion::kernel> k, std::string name, call_times* into)
        : inner(std::move(k)), op(std::move(name)), times(into) {}
    void run(pinion::kernel_context& c) override {
      times->call(op, [&] { inner->run(c); });
    }
  };
  std::shared_ptr<pinion::kernel> timed(const pinion::kernel_setup& s) {
    return std::make_shared<timed_kernel>(pinion::make_kernel_for(s), s.node.op, &times_);
  }

  pinion::graph& graph_;
  pinion::devices::cpu_device cpu_{pinion::parse_device("/job:localhost/replica:0/task:0/device:CPU:0")};
  pinion::runtime::local_resource_manager resources_;
  pinion::thread_pool alone_{0};
  pinion::task_services services_{&resources_, &alone_};
  call_times times_;
  int items_ = 0;
};

}  // namespace bench

// A node of a graph on a GPU, run again and again without a session, so that its kernels alone are measured.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/device.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/runtime/resource_manager.hpp>
#include <pinion/state/variable.hpp>

#include "contest.hpp"

namespace bench {

// The first GPU of the machine. Null where there is none; then the reason is printed.
inline std::unique_ptr<pinion::cuda::device> first_gpu() {
  const auto found = pinion::cuda::list_cards();
  if (found.cards.empty()) {
    fmt::print("There is no GPU here: {}.\n", found.why_none);
    return nullptr;
  }
  const auto& card = found.cards[0];
  fmt::print("{}, {} GiB\n", card.name, card.memory >> 30);
  return std::make_unique<pinion::cuda::device>(pinion::parse_device("/job:localhost/replica:0/task:0/gpu:0"), card,
                                                card.memory, false);
}

// The first node of an op in a graph; -1: there is none.
inline pinion::node_id node_of(pinion::graph& g, std::string_view op) {
  for (pinion::node_id id = 0; id < g.size(); ++id)
    if (g[id].op == op) return id;
  return -1;
}

// Repeats work of a GPU's stream, and waits for its end: a turn of a contest.
template <class Enqueue>
contest::turn_function turns_of(pinion::cuda::device& on, Enqueue enqueue) {
  return [&on, enqueue](long calls) mutable {
    const double start = wall_seconds();
    for (long i = 0; i < calls; ++i) enqueue();
    on.stream()->synchronize();
    return wall_seconds() - start;
  };
}

// Its inputs are numbers between 1/4 and 5/4, and indices below 10. Requires: the shapes of its inputs are known.
class gpu_node {
 public:
  gpu_node(pinion::graph& g, pinion::node_id id, pinion::cuda::device& on)
      : node_(g[id]), on_(on), outputs_(g[id].outputs.size()) {
    for (const pinion::output& from : node_.inputs) {
      const auto& made = g[from.node].outputs[static_cast<std::size_t>(from.index)];
      pinion::any_tensor value = on.from_host(numbers(made.dtype, made.shape));
      const bool is_state = g[from.node].op == "VariableV2";
      bytes_ += static_cast<std::int64_t>(value.bytes()) * (is_state ? 2 : 1);
      if (is_state) pinion::state::find_variable(services_, g[from.node])->assign(std::move(value));
      kept_.push_back(is_state ? pinion::any_tensor() : std::move(value));
    }
    kernel_ = pinion::make_kernel_for({g, node_, on, services_});
    run();
    for (const auto& out : first_outputs_)
      if (out) bytes_ += static_cast<std::int64_t>(out.bytes());
    first_outputs_.clear();
    on.stream()->synchronize();
  }
  gpu_node(const gpu_node&) = delete;

  void run() {
    std::vector<pinion::any_tensor> inputs = kept_;  // so that no kernel takes their memory for its results
    pinion::kernel_context c;
    c.node = &node_;
    c.device = &on_;
    c.services = &services_;
    c.inputs = inputs;
    c.outputs = outputs_;
    kernel_->run(c);
    if (first_outputs_.empty()) first_outputs_ = outputs_;
    for (auto& out : outputs_) out = {};
  }
  // The bytes that a run must read and write: inputs, outputs, and variables twice.
  std::int64_t bytes() const { return bytes_; }

 private:
  static pinion::any_tensor numbers(pinion::dtype type, const pinion::shape& extent) {
    pinion::any_tensor t(type, extent);
    pinion::visit_plain(type, [&]<class T>() {
      for (std::int64_t i = 0; i < t.count(); ++i)
        t.data<T>()[i] = static_cast<T>(std::is_floating_point_v<T> ? .25 + static_cast<double>(i % 257) / 257
                                                                    : static_cast<double>(i % 10));
    });
    return t;
  }

  const pinion::node node_;
  pinion::cuda::device& on_;
  pinion::runtime::local_resource_manager resources_;
  pinion::thread_pool alone_{0};
  pinion::task_services services_{&resources_, &alone_};
  std::vector<pinion::any_tensor> kept_, outputs_, first_outputs_;
  std::unique_ptr<pinion::kernel> kernel_;
  std::int64_t bytes_ = 0;
};

// Memory of a GPU that is copied to other memory of it.
class gpu_copy {
 public:
  // `bytes`: read and written together.
  gpu_copy(pinion::cuda::device& on, std::int64_t bytes)
      : on_(on),
        from_(pinion::dtype::uint8, {bytes / 2}, on.memory()),
        to_(pinion::dtype::uint8, {bytes / 2}, on.memory()) {}
  void run() {
    cudaMemcpyAsync(to_.raw(), from_.raw(), from_.bytes(), cudaMemcpyDeviceToDevice, on_.stream()->native());
  }

 private:
  pinion::cuda::device& on_;
  pinion::any_tensor from_, to_;
};

}  // namespace bench

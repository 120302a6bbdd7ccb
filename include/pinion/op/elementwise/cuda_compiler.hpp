// The compiler of an elementwise node's kernels in CUDA C, and their launches.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/harmless.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/device.hpp>
#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/refusals.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The text of a kernel under a name of its own: write(name) gives the text under a name.
template <class Write>
cuda::kernel_text named_text(Write write) {
  const std::string name = "pinion_" + cuda::digest(write("kernel"));
  return {name, write(name)};
}

// An extent that stands for one that the graph does not know where kernels are announced: large and even.
constexpr std::int64_t assumed_extent = 64;

// The shapes of a node's inputs, as its kernel is announced for them; null where the graph does not know a rank.
inline std::optional<std::vector<shape>> assumed_inputs(const kernel_setup& setup) {
  std::vector<shape> inputs;
  for (std::size_t i = 0; i < setup.node.inputs.size(); ++i) {
    shape s = setup.input(static_cast<int>(i)).shape;
    if (!s.has_rank()) return std::nullopt;
    for (int d = 0; d < s.rank(); ++d)
      if (s[d] < 0) s.set(d, assumed_extent);
    inputs.push_back(s);
  }
  return inputs;
}

// The kernels of the GPU that a node runs on, and the threads that help to compile them. A value.
class cuda_compiler {
 public:
  explicit cuda_compiler(const kernel_setup& setup)
      : node_(&setup.node),
        card_(facts_of(setup.device).number),
        store_(&store_of(setup.device)),
        threads_(setup.services.intra_op) {}

  void announce(cuda::kernel_text text) const { store_->announce(std::move(text)); }
  // The kernel of a program; null where there is none, so that the program is interpreted. A refusal of the compiler or
  // the driver is told once, on standard error.
  CUkern_st* find(const cuda::kernel_text& text, const scalar::program& p) const {
    const cuda::card::visit here(card_);
    CUkern_st* const found = store_->find(text, threads_, [&](const error& why) {
      fmt::print(stderr, "pinion: the GPU interprets the program of node '{}' ({}), since {}; the program:\n{}\n",
                 harmless(node_->name), harmless(node_->op), why.sentence(), scalar::to_string(p));
    });
    if (!found) note_refusal(*node_);
    return found;
  }

 private:
  static const cuda::card_facts& facts_of(const devices::device& on) {
    return static_cast<const cuda::device&>(on).facts();
  }
  static cuda::kernel_store& store_of(const devices::device& on) {
    return cuda::kernel_store::of(facts_of(on).major, facts_of(on).minor);
  }

  const node* node_;
  int card_;
  cuda::kernel_store* store_;
  thread_pool* threads_;
};

inline void launch(kernel_context& c, CUkern_st* kernel, const cuda_launch& how) {
  cuda::launch(c.device->stream()->native(), kernel, how.argument, how.blocks, cuda_launch::threads);
}

}}}}  // namespace pinion::v0::op::detail

// The compiler of an elementwise node's kernels in CUDA C, and their launches.
#pragma once

#include <string>
#include <utility>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/device.hpp>
#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The text of a kernel under a name of its own: write(name) gives the text under a name.
template <class Write>
cuda::kernel_text named_text(Write write) {
  const std::string name = "pinion_" + cuda::digest(write("kernel"));
  return {name, write(name)};
}

// The kernels of the GPU that a node runs on, and the threads that help to compile them. A value.
class cuda_compiler {
 public:
  explicit cuda_compiler(const kernel_setup& setup)
      : card_(facts_of(setup.device).number), store_(&store_of(setup.device)), threads_(setup.services.intra_op) {}

  void announce(cuda::kernel_text text) const { store_->announce(std::move(text)); }
  // The kernel; null where there is no compiler, so that the program is interpreted.
  CUkern_st* find(const cuda::kernel_text& text) const {
    try {
      const cuda::card::visit here(card_);
      return store_->find(text, threads_);
    } catch (const error& e) {
      if (e.code() != errc::unimplemented) throw;
      return nullptr;
    }
  }

 private:
  static const cuda::card_facts& facts_of(const devices::device& on) {
    return static_cast<const cuda::device&>(on).facts();
  }
  static cuda::kernel_store& store_of(const devices::device& on) {
    return cuda::kernel_store::of(facts_of(on).major, facts_of(on).minor);
  }

  int card_;
  cuda::kernel_store* store_;
  thread_pool* threads_;
};

inline void launch(kernel_context& c, CUkern_st* kernel, const cuda_launch& how) {
  cuda::launch(c.device->stream()->native(), kernel, how.argument, how.blocks, cuda_launch::threads);
}

}}}}  // namespace pinion::v0::op::detail

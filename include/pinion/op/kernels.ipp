// Bodies of <pinion/op/kernels.hpp>.
#pragma once

#include <atomic>

#include <pinion/base/process.hpp>
#include <pinion/op/attention/cpu.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/op/control/cpu.hpp>
#include <pinion/op/conv/cpu.hpp>
#include <pinion/op/ctc/cpu.hpp>
#include <pinion/op/einsum/cpu.hpp>
#if PINION_HAS_CUDA
#include <pinion/op/cuda_kernels.hpp>
#endif
#include <pinion/op/kernel_table.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/op/layer/cpu.hpp>
#include <pinion/op/matmul/cpu.hpp>
#include <pinion/op/queue/cpu.hpp>
#include <pinion/op/recurrent/cpu.hpp>
#include <pinion/op/resize/cpu.hpp>
#include <pinion/op/rows/cpu.hpp>
#include <pinion/op/summary/cpu.hpp>
#include <pinion/op/sync/cpu.hpp>
#include <pinion/op/variable/cpu.hpp>
#include <pinion/op/volume/cpu.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/registry.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
inline const op::kernel_table& library_kernels() {
  return table_of_this_process([] {
    op::kernel_table all;
    op::add_kernels_of_elements(all);
    op::add_kernels<op::other_ops>(all);
    return all;
  });
}

struct cuda_kernels {
#if PINION_HAS_CUDA
  std::atomic<cuda_kernel_finder> find{cuda_kernel_of};
#else
  std::atomic<cuda_kernel_finder> find{nullptr};
#endif

  static cuda_kernels& known() {
    return of_this_process<cuda_kernels>();
  }
};
// The maker of the CUDA kernel of a node; null: its device runs host code, or there is none.
inline kernel_maker cuda_maker_for(const kernel_setup& setup) {
  if (setup.device.kernels() != devices::kernel_code::cuda) return nullptr;
  const auto find = cuda_kernels::known().find.load(std::memory_order_acquire);
  return find ? find(setup.node.op) : nullptr;
}

// The kernel of an op of the library on a GPU, whose launches follow from shapes, attributes and addresses alone.
class replayed_kernel final : public kernel {
 public:
  explicit replayed_kernel(std::unique_ptr<kernel> of) : of_(std::move(of)) {}
  void run(kernel_context& context) override { of_->run(context); }
  bool may_replay() const override { return true; }
  void announce(std::span<const unsigned char> wanted) override { of_->announce(wanted); }

 private:
  const std::unique_ptr<kernel> of_;
};
inline std::unique_ptr<kernel> replayed_if_possible(std::unique_ptr<kernel> made, const kernel_setup& setup) {
  if (setup.device.kernels() != devices::kernel_code::cuda || made->blocking() || made->may_replay() ||
      !definition_of(setup.node.op).no_replay.empty())
    return made;
  return std::make_unique<replayed_kernel>(std::move(made));
}
}  // namespace detail

PINION_DECL void find_cuda_kernels_by(cuda_kernel_finder finder) {
  detail::cuda_kernels::known().find.store(finder, std::memory_order_release);
}

PINION_DECL void start_libraries(const graph& g, node_id from) {
  for (node_id id = from; id < g.size(); ++id) {
    if (!g.contains(id)) continue;
    const node& n = g.peek(id);
    const auto at = detail::library_kernels().find(n.op);
    if (at == detail::library_kernels().end() || !at->second.start_library) continue;
    at->second.start_library(definition_of(n.op).key(n));
  }
}
PINION_DECL void start_libraries() {
  for (const auto& [op, of] : detail::library_kernels())
    if (of.start_library)
      for (const dtype type : {dtype_of<float>, dtype_of<double>}) of.start_library(type);
}

PINION_DECL std::unique_ptr<kernel> make_kernel_for(const kernel_setup& setup) {
  const definition& def = definition_of(setup.node.op);
  const dtype key = def.key(setup.node);
  if (!def.kernels.has(setup.device.type(), key))
    throw error(errc::unimplemented, no_kernel(setup.node.op, def.kernels, key, setup.device.type()));
  const auto at = detail::library_kernels().find(setup.node.op);
  if (at == detail::library_kernels().end()) return find_registered(setup.node.op)->make(setup);
  const kernel_maker cuda = detail::cuda_maker_for(setup);
  return detail::replayed_if_possible(cuda ? cuda(setup) : at->second.make(setup), setup);
}

}}  // namespace pinion::v0

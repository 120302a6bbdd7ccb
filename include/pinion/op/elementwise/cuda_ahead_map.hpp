// Programs whose kernels for GPUs nvcc has compiled together with a unit of the user's.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include <pinion/op/elementwise/cuda_ahead.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/op/elementwise/cuda_writer.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The kernel that a unit has brought along for an executable program, if there is one, for the GPU of one node.
// Thread-safe.
class ahead_map {
 public:
  explicit ahead_map(const scalar::program& p) : kernel_(find_ahead(p)), inputs_(p.inputs) {
    detail::cuda_packer literals(false);
    literals.put_literals(p);
    literals_ = literals.take();
  }

  // Tells whether there is one for runs over a space. Whether it has code for the GPU is seen at the first run.
  bool takes(const broadcast_walk& walk) const { return kernel_ && ahead_kernel::takes(walk); }
  // Enqueues a run over a space that is not empty; false where there is no kernel for it. Operands are the inputs, then
  // the results; a result without an address is not written. Nothing is written if one of the places of `guard` has a
  // wrong value.
  bool launch(kernel_context& c, const broadcast_walk& walk, std::span<const void* const> addresses,
              const cuda::wrong_places& guard = {}) {
    if (!takes(walk)) return false;
    const devices::cuda_stream into = c.device->stream()->native();
    std::call_once(asked_, [&] { has_code_ = kernel_->is_there(); });
    if (has_code_) kernel_->run(into, cuda_walk(walk, inputs_, addresses, guard), literals_.data());
    return has_code_;
  }

 private:
  const ahead_kernel* const kernel_;
  const std::size_t inputs_;
  std::vector<std::byte> literals_;
  std::once_flag asked_;
  bool has_code_ = false;
};

}}}  // namespace pinion::v0::op

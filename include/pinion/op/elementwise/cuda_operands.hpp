// The operands of an elementwise run on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_walk.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The addresses of operands, in the order of a walk.
class cuda_addresses {
 public:
  void add(const any_tensor& t) { add(t.raw()); }
  void add(const void* address) { all_[count_++] = address; }
  std::span<const void* const> all() const { return {all_.data(), count_}; }

 private:
  std::array<const void*, broadcast_walk::most_operands> all_;
  std::size_t count_ = 0;
};

// A walk in the words of kernels that nvcc has compiled. The first `inputs` operands are inputs.
inline cuda::map_walk cuda_walk(const broadcast_walk& walk, std::size_t inputs, std::span<const void* const> addresses,
                                const cuda::wrong_places& guard) {
  cuda::map_walk over{};
  over.rank = static_cast<int>(walk.extents.size());
  over.inputs = static_cast<int>(inputs);
  over.guard = guard;
  for (std::size_t d = 0; d < walk.extents.size(); ++d) over.extent[d] = walk.extents[d];
  for (std::size_t k = 0; k < addresses.size(); ++k) {
    over.operands[k].address = const_cast<void*>(addresses[k]);
    for (std::size_t d = 0; d < walk.extents.size(); ++d) over.operands[k].stride[d] = walk.strides[k][d];
  }
  return over;
}

}}}  // namespace pinion::v0::op

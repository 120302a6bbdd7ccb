// The gradients of a map that GPUs interpret.
#pragma once

#include <cstddef>
#include <vector>

#include <pinion/op/elementwise/cuda_interpreted.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/op/elementwise/cuda_sums.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The gradients of a map over inputs of some shapes where nothing compiles them: each has an element for each element
// of the space first, and those over fewer axes are then added up. Thread-safe.
class interpreted_gradients {
 public:
  // `p` is the program of the wanted results alone; result k has the shape of input `of[k]`.
  interpreted_gradients(const scalar::program& p, const std::vector<shape>& inputs, const std::vector<std::size_t>& of)
      : space_(map_layout::space_of(inputs)), walk_(space_, with_space(inputs, space_, of.size())), program_(p) {
    for (const std::size_t k : of) sums_.push_back(sum_of(inputs[k]));
    type_ = p.arithmetic;
  }

  void run(kernel_context& c, const cuda_addresses& operands) {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> whole;
    const std::size_t inputs = at.size() - sums_.size();
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      whole.push_back(sums_[k].is_whole ? any_tensor() : c.scratch(type_, space_));
      if (whole[k]) at[inputs + k] = whole[k].raw();
    }
    program_.launch(c, walk_, at);
    for (std::size_t k = 0; k < sums_.size(); ++k)
      if (whole[k]) add_up(c, whole[k], const_cast<void*>(operands.all()[inputs + k]), sums_[k].over);
  }

 private:
  struct sum {
    bool is_whole;
    cuda::summed_space over;
  };
  static std::vector<shape> with_space(std::vector<shape> inputs, const shape& space, std::size_t results) {
    inputs.insert(inputs.end(), results, space);
    return inputs;
  }
  sum sum_of(const shape& result) const {
    const broadcast_walk walk(space_, {result});
    sum all{result.count() == space_.count(), {}};
    for (std::size_t d = 0; d < walk.extents.size(); ++d) {
      all.over.extent[d] = walk.extents[d];
      all.over.is_kept[d] = walk.strides[0][d] != 0;
    }
    all.over.rank = static_cast<int>(walk.extents.size());
    return all;
  }
  void add_up(kernel_context& c, const any_tensor& from, void* to, const cuda::summed_space& over) const {
    visit_plain(type_, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        cuda::sum_over(c.device->stream()->native(), static_cast<const T*>(from.raw()), static_cast<T*>(to), over);
    });
  }

  const shape space_;
  const broadcast_walk walk_;
  interpreted_map program_;
  std::vector<sum> sums_;
  dtype type_ = dtype::invalid;
};

}}}}  // namespace pinion::v0::op::detail

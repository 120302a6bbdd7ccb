// The gradients of a map on GPUs, each of which is computed as a whole before it is added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <pinion/op/elementwise/cuda_ahead_map.hpp>
#include <pinion/op/elementwise/cuda_interpreted.hpp>
#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/op/elementwise/cuda_sums.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The gradients of a map over inputs of some shapes where NVRTC makes no kernel that adds up what it computes: each has
// an element for each element of the space first, and those over fewer axes are then added up. Thread-safe.
class separate_gradients {
 public:
  // `p` computes all gradients, result k that of input k; some of them are wanted.
  separate_gradients(const scalar::program& p, const std::vector<shape>& inputs, const std::vector<bool>& wanted)
      : type_(p.arithmetic),
        wanted_(wanted),
        space_(map_layout::space_of(inputs)),
        walk_of_all_(space_, with_space(inputs, space_, p.results.size())),
        walk_(space_,
              with_space(inputs, space_, static_cast<std::size_t>(std::count(begin(wanted), end(wanted), true)))),
        ahead_(p),
        interpreted_(with_results(p, wanted)) {
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k]) sums_.push_back(sum_of(inputs[k]));
  }

  // Runs where one kernel does it all that was compiled ahead of time; else it does nothing, and is false. Operands are
  // the inputs, then the wanted results.
  bool run_at_once(kernel_context& c, const cuda_addresses& operands) {
    const bool adds_up = std::any_of(sums_.begin(), sums_.end(), [](const sum& s) { return !s.is_whole; });
    return !adds_up && ahead_.launch(c, walk_of_all_, with_unwanted(operands.all()));
  }
  void run(kernel_context& c, const cuda_addresses& operands) {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> whole;
    const std::size_t inputs = at.size() - sums_.size();
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      whole.push_back(sums_[k].is_whole ? any_tensor() : c.scratch(type_, space_));
      if (whole[k]) at[inputs + k] = whole[k].raw();
    }
    if (!ahead_.launch(c, walk_of_all_, with_unwanted(at))) interpreted_.launch(c, walk_, at);
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
  // The addresses of all operands; null for results that are not wanted.
  std::vector<const void*> with_unwanted(std::span<const void* const> operands) const {
    auto next = operands.end() - static_cast<std::ptrdiff_t>(sums_.size());
    std::vector<const void*> all(operands.begin(), next);
    for (const bool is_wanted : wanted_) all.push_back(is_wanted ? *next++ : nullptr);
    return all;
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

  const dtype type_;
  const std::vector<bool> wanted_;
  const shape space_;
  const broadcast_walk walk_of_all_, walk_;  // with all results, with those that are wanted
  ahead_map ahead_;
  interpreted_map interpreted_;
  std::vector<sum> sums_;
};

}}}}  // namespace pinion::v0::op::detail

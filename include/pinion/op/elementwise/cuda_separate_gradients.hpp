// The gradients of a map on GPUs, each of which is computed as a whole before it is added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <pinion/device/cuda/fold.hpp>
#include <pinion/op/elementwise/cuda_ahead_map.hpp>
#include <pinion/op/elementwise/cuda_interpreted.hpp>
#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
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
      if (wanted[k]) sums_.push_back(folds_to(inputs[k]));
  }

  // Tells whether one kernel does it all that was compiled ahead of time, if it has code for the GPU.
  bool runs_at_once() const { return !adds_up() && ahead_.takes(walk_of_all_); }
  // Runs where one kernel does it all that was compiled ahead of time; else it does nothing, and is false. Operands are
  // the inputs, then the wanted results.
  bool run_at_once(kernel_context& c, const cuda_addresses& operands) {
    return !adds_up() && ahead_.launch(c, walk_of_all_, with_unwanted(operands.all()));
  }
  void run(kernel_context& c, const cuda_addresses& operands) {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> whole;
    const std::size_t inputs = at.size() - sums_.size();
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      whole.push_back(sums_[k].empty() ? any_tensor() : c.scratch(type_, space_));
      if (whole[k]) at[inputs + k] = whole[k].raw();
    }
    if (!ahead_.launch(c, walk_of_all_, with_unwanted(at))) interpreted_.launch(c, walk_, at);
    for (std::size_t k = 0; k < sums_.size(); ++k)
      if (whole[k]) add_up(c, whole[k], const_cast<void*>(operands.all()[inputs + k]), sums_[k]);
  }

 private:
  using folds = std::vector<cuda::fold_extents>;

  bool adds_up() const {
    return std::any_of(sums_.begin(), sums_.end(), [](const folds& sum) { return !sum.empty(); });
  }
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
  // The folds that add the space up to a result, the last dimension first; none for one that is as large as the space.
  folds folds_to(const shape& result) const {
    const broadcast_walk walk(space_, {result});
    folds all;
    std::int64_t outer = space_.count(), inner = 1;
    for (std::size_t d = walk.extents.size(); d-- > 0 && outer > 0;) {
      const std::int64_t extent = walk.extents[d];
      outer /= extent;
      if (walk.strides[0][d] != 0)
        inner *= extent;
      else if (extent > 1)
        all.push_back({outer, extent, inner});
    }
    return all;
  }
  void add_up(kernel_context& c, any_tensor from, void* to, const folds& sum) const {
    visit_plain(type_, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        for (const cuda::fold_extents& of : sum) {
          const bool is_last = &of == &sum.back();
          const any_tensor part = is_last ? any_tensor() : c.scratch(type_, {of.outer * of.inner});
          const any_tensor stage = c.scratch(type_, {cuda::fold_scratch<T>(of)});
          cuda::fold(c.device->stream()->native(), cuda::fold_by::sum, static_cast<const T*>(from.raw()),
                     static_cast<T*>(is_last ? to : part.raw()), of, 1, static_cast<T*>(stage.raw()));
          from = part;
        }
    });
  }

  const dtype type_;
  const std::vector<bool> wanted_;
  const shape space_;
  const broadcast_walk walk_of_all_, walk_;  // with all results, with those that are wanted
  ahead_map ahead_;
  interpreted_map interpreted_;
  std::vector<folds> sums_;
};

}}}}  // namespace pinion::v0::op::detail

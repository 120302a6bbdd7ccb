// The kernels of a map's gradients that NVRTC compiles.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/cuda_compiler.hpp>
#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The pass of a map's gradients over inputs of some shapes, for the results that are wanted and for a form. Immutable
// once made.
class cuda_gradient_pass {
 public:
  // `walk` is that of `p`, the program of the wanted results alone.
  cuda_gradient_pass(const cuda_compiler& compiler, scalar::program p, broadcast_walk walk,
                     const cuda_gradient_form& form)
      : program_(std::move(p)), walk_(std::move(walk)), form_(form), run_(program_, walk_, form_) {
    announce(compiler, program_, form_);
    pass_ = compiler.find(pass_text(program_, form_), program_);
    if (pass_) sum_ = compiler.find(sum_text(program_), program_);
  }
  cuda_gradient_pass(const cuda_gradient_pass&) = delete;
  // Announces the kernels of such a pass.
  static void announce(const cuda_compiler& compiler, const scalar::program& p, const cuda_gradient_form& form) {
    compiler.announce(pass_text(p, form));
    compiler.announce(sum_text(p));
  }

  const cuda_gradient_form& form() const { return form_; }
  // False where nothing compiles it.
  bool is_compiled() const { return sum_ != nullptr; }
  // Requires: it is compiled. `operands` are the inputs, then the wanted results.
  void run(kernel_context& c, const cuda_addresses& operands) const {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> sums;
    for (std::size_t k = 0; k < program_.results.size(); ++k) {
      sums.push_back(run_.partial_sums(k) > 0 ? c.scratch(program_.arithmetic, {run_.partial_sums(k)}) : any_tensor());
      if (sums[k]) at[program_.inputs + k] = sums[k].raw();
    }
    launch(c, pass_, run_.pass(at));
    for (std::size_t k = 0; k < sums.size(); ++k)
      if (sums[k]) launch(c, sum_, run_.sum(k, sums[k].raw(), const_cast<void*>(operands.all()[program_.inputs + k])));
  }

 private:
  static cuda::kernel_text pass_text(const scalar::program& p, const cuda_gradient_form& form) {
    return named_text([&](const std::string& name) { return cuda_gradient_text(p, form, name); });
  }
  static cuda::kernel_text sum_text(const scalar::program& p) {
    return named_text([&](const std::string& name) { return cuda_sum_text(p.arithmetic, name); });
  }

  const scalar::program program_;
  const broadcast_walk walk_;
  const cuda_gradient_form form_;
  const cuda_gradient_run run_;
  CUkern_st *pass_ = nullptr, *sum_ = nullptr;
};

}}}}  // namespace pinion::v0::op::detail

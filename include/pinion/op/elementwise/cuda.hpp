// Elementwise kernels of GPUs.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/cuda_gradient_pass.hpp>
#include <pinion/op/elementwise/cuda_map_program.hpp>
#include <pinion/op/elementwise/cuda_separate_gradients.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/elementwise/reuse.hpp>
#include <pinion/op/source/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The kernel of every elementwise op. The result takes the memory of an input that nobody else holds.
class cuda_map_kernel final : public kernel {
 public:
  explicit cuda_map_kernel(const kernel_setup& setup)
      : program_(setup, program_of(setup.attrs())), parts_(map_parts::of(setup.attrs(), setup.node.inputs.size())) {
    if (auto inputs = detail::assumed_inputs(setup)) announce_for(std::move(*inputs));
  }

  void run(kernel_context& c) override {
    const auto layout = layouts_.find(c.inputs, [&] { return layout_of(shapes_of(c.inputs)); });
    cuda_addresses operands;
    for (const any_tensor& in : c.inputs) operands.add(in);
    const dtype result = program_.program().results[0].type;
    operands.add(c.reuse_or_allocate(0, detail::reusable(c, result, layout->space), result, layout->space));
    program_.run(c, layout->walk, operands);
  }

 private:
  map_layout layout_of(std::vector<shape> inputs) const { return parts_.layout(std::move(inputs), program_.program()); }
  void announce_for(std::vector<shape> inputs) {
    const auto layout = outcome_of([&] { return layout_of(std::move(inputs)); });
    if (layout && layout.value().elements > 0) program_.announce(layout.value().walk);
  }

  detail::cuda_map_program program_;
  const map_parts parts_;
  layout_cache layouts_;
};

// The kernel of MapGrad, which computes all gradients that are wanted in one pass, sums over broadcast axes included.
class cuda_map_gradient_kernel final : public kernel {
 public:
  explicit cuda_map_gradient_kernel(const kernel_setup& setup)
      : program_(scalar::executable(program_of(setup.attrs()))),
        compiler_(setup),
        assumed_(detail::assumed_inputs(setup)) {}

  void announce(std::span<const unsigned char> wanted) override {
    if (!assumed_ || std::find(wanted.begin(), wanted.end(), 1) == wanted.end()) return;
    const auto of = outcome_of([&] { return make_plan(*assumed_, {wanted.begin(), wanted.end()}); });
    if (!of || of.value()->is_empty || of.value()->separate->runs_at_once()) return;
    const plan& p = *of.value();
    const std::vector<const void*> aligned(p.walk.strides.size(), nullptr);
    detail::cuda_gradient_pass::announce(compiler_, p.program, cuda_gradient_form_of(p.program, p.walk, aligned));
  }
  void run(kernel_context& c) override {
    cuda_addresses operands;
    for (const any_tensor& in : c.inputs) operands.add(in);
    std::vector<bool> wanted;
    for (std::size_t k = 0; k < program_.results.size(); ++k) {
      wanted.push_back(c.wants(static_cast<int>(k)));
      if (wanted.back())
        operands.add(c.allocate(static_cast<int>(k), program_.arithmetic, c.input(static_cast<int>(k)).shape()));
    }
    const plan& of = plan_for(shapes_of(c.inputs), wanted);
    if (of.is_empty) return fill_sums(c);
    if (of.separate->run_at_once(c, operands)) return;
    const auto& pass = pass_for(of, operands);
    pass.is_compiled() ? pass.run(c, operands) : of.separate->run(c, operands);
  }

 private:
  // A run of some shapes, whose passes differ by the alignment of operands alone.
  struct plan {
    std::vector<shape> inputs;
    std::vector<bool> wanted;
    scalar::program program;
    broadcast_walk walk;
    bool is_empty;
    std::unique_ptr<detail::separate_gradients> separate;
    mutable std::vector<std::unique_ptr<const detail::cuda_gradient_pass>> passes;
  };

  const plan& plan_for(std::vector<shape> inputs, const std::vector<bool>& wanted) {
    std::lock_guard hold(mutex_);
    for (const auto& one : plans_)
      if (one->inputs == inputs && one->wanted == wanted) return *one;
    return *plans_.emplace_back(make_plan(std::move(inputs), wanted));
  }
  std::unique_ptr<const plan> make_plan(std::vector<shape> inputs, const std::vector<bool>& wanted) const {
    const shape space = map_layout::space_of(inputs);
    std::vector<shape> operands = inputs;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k]) operands.push_back(inputs[k]);
    auto separate = std::make_unique<detail::separate_gradients>(program_, inputs, wanted);
    return std::make_unique<const plan>(plan{std::move(inputs),
                                             wanted,
                                             with_results(program_, wanted),
                                             {space, operands},
                                             space.count() == 0,
                                             std::move(separate),
                                             {}});
  }
  const detail::cuda_gradient_pass& pass_for(const plan& of, const cuda_addresses& operands) {
    const auto form = cuda_gradient_form_of(of.program, of.walk, operands.all());
    std::lock_guard hold(mutex_);
    for (const auto& one : of.passes)
      if (one->form() == form) return *one;
    return *of.passes.emplace_back(
        std::make_unique<const detail::cuda_gradient_pass>(compiler_, of.program, of.walk, form));
  }
  // Sums over an empty space are 0.
  void fill_sums(kernel_context& c) const {
    for (const any_tensor& out : c.outputs)
      if (out)
        visit_plain(out.dtype(),
                    [&]<class T>() { cuda::fill(c.device->stream()->native(), out.data<T>(), out.count(), T{}); });
  }

  const scalar::program program_;
  const detail::cuda_compiler compiler_;
  const std::optional<std::vector<shape>> assumed_;  // inputs for which it is announced
  std::mutex mutex_;
  std::vector<std::unique_ptr<const plan>> plans_;
};

template <class Functor>
std::unique_ptr<kernel> make_cuda_kernel(const map<Functor>&, const kernel_setup& setup) {
  return std::make_unique<cuda_map_kernel>(setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(map_gradient, const kernel_setup& setup) {
  return std::make_unique<cuda_map_gradient_kernel>(setup);
}

}}}  // namespace pinion::v0::op

// Kernels of sums of products of tensors.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <pinion/op/einsum/contraction.hpp>
#include <pinion/op/einsum/equation.hpp>
#include <pinion/op/einsum/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace einsum {

// Lets one tensor of a contraction move along the axes that its term names.
inline void add_moves(std::map<int, contraction_axis>& axes, const std::string& term, const shape& of,
                      std::int64_t contraction_axis::*moves) {
  const std::vector<int> labels = labels_of(term, of.rank());
  std::int64_t stride = 1;
  for (int i = of.rank(); i-- > 0; stride *= of[i])
    if (of[i] != 1) axes[labels[static_cast<std::size_t>(i)]].*moves += stride;
}

// The axes of a contraction of tensors without empty axes.
inline axis_list axes_of(const einsum_equation& of, const std::vector<shape>& operands, const shape& result) {
  label_extents extents;
  for (std::size_t i = 0; i < operands.size(); ++i) extents.add(of.operands[i], operands[i]);
  extents.add(of.result, result);
  std::map<int, contraction_axis> axes;
  for (const auto& [label, extent] : extents.all()) axes[label] = {extent, 0, 0, 0};
  add_moves(axes, of.operands[0], operands[0], &contraction_axis::x);
  if (operands.size() > 1) add_moves(axes, of.operands[1], operands[1], &contraction_axis::y);
  add_moves(axes, of.result, result, &contraction_axis::z);
  axis_list all;
  for (const auto& [label, axis] : axes) all.push_back(axis);
  return all;
}

// Whether the axes of z lead to all of its elements, as they do unless a label stands twice in its term.
inline bool fill(const axis_list& axes, std::int64_t elements) {
  std::int64_t reached = 1;
  for (const contraction_axis& axis : axes)
    if (axis.z) reached *= axis.extent;
  return reached == elements;
}

// Computes z of x and y as they are rounded, or of x alone where y is null.
template <class T>
void run(const T* x, const T* y, T* z, std::int64_t elements, const axis_list& axes, dtype compute,
         task_services& services) {
  if (places(axes) == 0 || !fill(axes, elements)) std::fill_n(z, elements, T{});
  if (places(axes) == 0) return;
  static constexpr T one = 1;
  contract(contraction<T>{x, y ? y : &one, z, axes, y ? compute : dtype::float32}, services);
}

// The kernel of an equation. With `like` the last input has the shape of the result.
class contraction_kernel final : public kernel {
 public:
  contraction_kernel(const kernel_setup& setup, einsum_equation equation, bool like)
      : equation_(std::move(equation)), like_(like), compute_(compute_of(setup.attrs())), services_(setup.services) {}
  bool expensive() const override { return true; }

  void run(kernel_context& c) override {
    std::vector<shape> operands;
    for (std::size_t i = 0; i < equation_.operands.size(); ++i)
      operands.push_back(c.input(static_cast<int>(i)).shape());
    const shape result =
        like_ ? c.input(static_cast<int>(operands.size())).shape() : shape_of_einsum(equation_, operands);
    axis_list axes = axes_of(equation_, operands, result);
    const any_tensor x = c.input(0), y = operands.size() > 1 ? c.input(1) : any_tensor{};
    const any_tensor z = c.allocate(0, x.dtype(), result);
    visit_plain<contracting::kernels.cpu>(x.dtype(), [&]<class T>() {
      c.launch([x, y, z, axes = std::move(axes), two = operands.size() > 1, compute = compute_, s = &services_] {
        einsum::run<T>(x.data<T>(), two ? y.data<T>() : nullptr, z.data<T>(), z.count(), axes, compute, *s);
      });
    });
  }

 private:
  const einsum_equation equation_;
  const bool like_;
  const dtype compute_;
  task_services& services_;
};

}}}}}  // namespace pinion::v0::op::detail::einsum

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(batch_matmul, const kernel_setup& setup) {
  return std::make_unique<detail::einsum::contraction_kernel>(setup, detail::equation_of_product(setup.attrs()), false);
}
inline std::unique_ptr<kernel> make_kernel(einsum, const kernel_setup& setup) {
  return std::make_unique<detail::einsum::contraction_kernel>(setup, detail::equation_of_einsum(setup.attrs()), false);
}
inline std::unique_ptr<kernel> make_kernel(einsum_like, const kernel_setup& setup) {
  return std::make_unique<detail::einsum::contraction_kernel>(setup, detail::equation_of_einsum(setup.attrs()), true);
}

}}}  // namespace pinion::v0::op

// Kernels of ops whose shapes, boxes and multiples are values of the run, on hosts. They do what those of the ops with
// attributes do, once the numbers are read.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/op/dynamic/numbers.hpp>
#include <pinion/op/dynamic/op.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/slice/boxes.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/source/cpu.hpp>
#include <pinion/op/strided/cpu.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace dynamic {

inline integers numbers_at(kernel_context& c, int i, std::string_view what) {
  return vector_of_numbers(c.input(i), what);
}

inline strided_spec spec_of(kernel_context& c, const attributes& masks) {
  return strided_spec(strided_attributes(masks, numbers_at(c, 1, "begin of a slice"),
                                         numbers_at(c, 2, "end of a slice"), numbers_at(c, 3, "strides of a slice")));
}

inline void run_slice_grad(kernel_context& c) {
  const integers begin = numbers_at(c, 1, "begin of a slice");
  const shape like = c.input(2).shape();
  expect_one_each(dynamic_slice::name, begin, like, "beginnings");
  expect_inside(c.input(0).shape(), begin, like);
  run_pad<host_boxes>(c, like, begin, 0);
}

inline void run_slice(kernel_context& c) {
  const shape x = c.input(0).shape();
  const integers begin = numbers_at(c, 1, "begin of a slice"), size = numbers_at(c, 2, "size of a slice");
  expect_one_each(dynamic_slice::name, begin, x, "beginnings");
  expect_one_each(dynamic_slice::name, size, x, "sizes");
  detail::run_slice<host_boxes>(c, told_box(x, begin, size), begin);
}

inline void run_split(kernel_context& c, const attributes& attrs) {
  const shape x = c.input(0).shape();
  const int axis = checked_axis(attrs.get<std::int64_t>("axis"), x.rank());
  const auto count = attrs.get<std::int64_t>("num_split");
  integers sizes = numbers_at(c, 1, "list of the sizes of parts");
  if (std::ssize(sizes) != count)
    throw error(errc::invalid_argument, "SplitV into " + std::to_string(count) + " parts has " +
                                            std::to_string(sizes.size()) + " sizes: one for each part");
  std::vector<shape> parts;
  for (const std::int64_t size : part_sizes(std::move(sizes), x[axis]))
    parts.push_back(x), parts.back().set(axis, size);
  cut_along<host_boxes>(c, axis, parts);
}

template <class T>
void run_range(kernel_context& c) {
  using number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  attributes of{{"dtype", dtype_of<T>}};
  std::array<number, 3> ends{};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).shape().rank() != 0)
      throw error(errc::invalid_argument,
                  "an end or a step of a range has shape " + to_string(c.input(i).shape()) + "; it is a scalar");
    ends[static_cast<std::size_t>(i)] = static_cast<number>(*c.input(i).data<T>());
    of.set(i == 0 ? "start" : i == 1 ? "limit" : "delta", ends[static_cast<std::size_t>(i)]);
  }
  detail::run_range<T>(c, ends[0], ends[2], range::checked_count(of));
}

// A kernel that runs `body`, and then looks whether each output has the shape that the graph told.
template <class Body>
std::unique_ptr<kernel> make_told(const kernel_setup& setup, Body body) {
  return make_function_kernel([body = std::move(body), &node = setup.node](kernel_context& c) {
    body(c);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (c.wants(static_cast<int>(i))) expect_as_told(c.outputs[i].shape(), node.outputs[i].shape);
  });
}

}}}}}  // namespace pinion::v0::op::detail::dynamic

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(dynamic_reshape, const kernel_setup& setup) {
  return detail::dynamic::make_told(setup, [](kernel_context& c) {
    const any_tensor x = c.input(0);
    const shape to = detail::shape_of_numbers(detail::dynamic::numbers_at(c, 1, "shape of a reshape"));
    c.outputs[0] = x.reshaped(detail::reshaped(to, x.shape()));
  });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_broadcast_to, const kernel_setup& setup) {
  return detail::dynamic::make_told(setup, [](kernel_context& c) {
    const integers to = detail::dynamic::numbers_at(c, 1, "shape of a broadcast");
    detail::run_broadcast_to(c, detail::broadcast_shape(c.input(0).shape(), to));
  });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_slice, const kernel_setup& setup) {
  return detail::dynamic::make_told(setup, &detail::dynamic::run_slice);
}

inline std::unique_ptr<kernel> make_kernel(dynamic_slice_grad, const kernel_setup&) {
  return make_function_kernel(&detail::dynamic::run_slice_grad);
}

inline std::unique_ptr<kernel> make_kernel(dynamic_strided_slice, const kernel_setup& setup) {
  return detail::dynamic::make_told(setup, [&masks = setup.attrs()](kernel_context& c) {
    detail::run_strided_slice(c, detail::dynamic::spec_of(c, masks));
  });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_strided_slice_grad, const kernel_setup& setup) {
  return make_function_kernel([&masks = setup.attrs()](kernel_context& c) {
    detail::run_strided_slice_grad(c, detail::dynamic::spec_of(c, masks), c.input(4).shape());
  });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_tile, const kernel_setup& setup) {
  return detail::dynamic::make_told(setup, [](kernel_context& c) {
    const integers multiples = detail::dynamic::numbers_at(c, 1, "list of multiples");
    detail::expect_multiples(c.input(0).shape(), multiples);
    detail::run_tile(c, multiples);
  });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_tile_grad, const kernel_setup&) {
  return make_function_kernel([](kernel_context& c) {
    const integers multiples = detail::dynamic::numbers_at(c, 1, "list of multiples");
    detail::expect_multiples(c.input(2).shape(), multiples);
    detail::run_tile_grad(c, multiples, c.input(2).shape());
  });
}

inline std::unique_ptr<kernel> make_kernel(split_v, const kernel_setup& setup) {
  return detail::dynamic::make_told(
      setup, [&attrs = setup.attrs()](kernel_context& c) { detail::dynamic::run_split(c, attrs); });
}

inline std::unique_ptr<kernel> make_kernel(dynamic_range, const kernel_setup& setup) {
  return visit_plain<dynamic_range::types>(setup.node.outputs[0].dtype, [&]<class T>() {
    return detail::dynamic::make_told(setup, &detail::dynamic::run_range<T>);
  });
}

}}}  // namespace pinion::v0::op

// Order along an axis: sorting and the largest elements, sums and products of all elements so far, and elements by
// index, which the gradients of the first are made of.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Throws invalid_argument where places along an axis of that extent are no int32.
void expect_int32_places(std::int64_t extent);

// Throws invalid_argument where the last axis, of extent n, has fewer than k elements.
void expect_elements(std::int64_t k, std::int64_t n);

// Ops of x that work along "axis" share this: x is of a dtype of numbers, and has that axis.
struct along_axis {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
};

}  // namespace detail

// x -> x, sorted along "axis": the least element first, or, "descending", the greatest. Equal elements stay in their
// order, and NaN is last in both.
struct sort : detail::along_axis {
  static constexpr std::string_view name = "Sort";
  static constexpr attribute_list attrs{attr::integer("axis"), attr::flag("descending").optional()};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x -> for each place along "axis" where in x, int32, the element is that sort puts there. Its kernel is declared for
// int32, the dtype of output 0, and takes numbers of any dtype.
struct arg_sort {
  static constexpr std::string_view name = "ArgSort";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs = sort::attrs;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are integers: no gradient
};

// x [..., n] -> the "k" largest elements along the last axis, [..., k], the largest first, and their indices, int32,
// [..., k]. Of equal elements the one of the lower index comes first. NaN counts as the greatest, as in argmax.
struct top_k : detail::along_axis {
  static constexpr std::string_view name = "TopKV2";
  static constexpr attribute_list attrs{attr::integer("k").between(0, 0x7fffffff)};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
  static double work(const work_context& c);
};

// x -> y, where an element is the sum of all elements of x up to its place along "axis"; "exclusive", of those before
// it, which at the first place is 0. "reverse" goes from the last place to the first.
struct cumsum : detail::along_axis {
  static constexpr std::string_view name = "Cumsum";
  static constexpr attribute_list attrs{attr::integer("axis"), attr::flag("exclusive").optional(),
                                        attr::flag("reverse").optional()};
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// Like cumsum, for products: 1 at the first place of an exclusive one.
struct cumprod : detail::along_axis {
  static constexpr std::string_view name = "Cumprod";
  static constexpr attribute_list attrs = cumsum::attrs;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (a, b) of one shape -> y of that shape, where along "axis" y[0] = 0 and y[i + 1] = b[i] + a[i] y[i]; with "reverse",
// y = 0 at the last place and y[i] = b[i + 1] + a[i + 1] y[i + 1]. The gradient of b is the op in the other direction,
// of (a, dy), and that of a is this times y. Cumprod's gradient is made of it, and so divides by no element.
struct linear_recurrence {
  static constexpr std::string_view name = "LinearRecurrence";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("axis"), attr::flag("reverse").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, indices) -> y of the shape of the indices, int32 or int64, which is that of x except for the extent of "axis":
// each element of y is the one of x at the index along that axis and the same place along the others. An index outside
// the axis fails the step.
struct take_along_axis {
  static constexpr std::string_view name = "TakeAlongAxis";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("axis")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (indices, rows, like) -> a tensor of the shape of `like`, where each element of rows is added, in their order, to the
// element at its index along "axis", and 0 elsewhere. Rows have the shape of the indices. The gradient of
// take_along_axis, and the other way round.
struct add_along_axis {
  static constexpr std::string_view name = "AddAlongAxis";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs = take_along_axis::attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/order/op.ipp>
#endif

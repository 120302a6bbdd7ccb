// Where elements are: the places of true ones, the first of equal ones, and where a value belongs in a sorted line.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Throws invalid_argument where a mask does not have the extents of as many axes of x, from attribute "axis" on.
void expect_mask(const attributes& attrs, const shape& mask, const shape& x);

// Throws invalid_argument where sorted lines and values are not [..., n] and [..., k] of the same leading extents.
void expect_lines(const shape& sorted, const shape& values);

}  // namespace detail

// condition [...] of rank r, bools -> the places of its true elements, [n, r], int64, in the order of the elements.
struct where {
  static constexpr std::string_view name = "Where";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}, .gpu = {}};
  static constexpr bool on_host = true;  // the output shape depends on elements
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // places are integers: no gradient
  static double work(const work_context& c);
};

// (mask, x) -> the places of the true elements of the mask, counted in the order of its elements, [n], int64: the rows
// that the mask chooses once the axes of x that are like it are merged. These begin at "axis", where a negative one is
// counted after merging.
struct mask_indices {
  static constexpr std::string_view name = "MaskIndices";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("axis")};
  static constexpr int reads = 1;
  static constexpr kernel_set kernels = where::kernels;
  static constexpr bool on_host = true;  // the output shape depends on elements
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are integers: no gradient
  static double work(const work_context& c);
};

// x [m] -> its different elements, [n], in the order in which each is first there, and for each element of x the index
// of the one that it equals, int32, [m]. A NaN equals no other. Elements that are stored are equal if their bits are.
struct unique {
  static constexpr std::string_view name = "Unique";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = {}};
  static constexpr bool on_host = true;  // the output shape depends on elements
  static constexpr std::string_view no_gradient = "which elements are equal is a step function of them";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// (sorted [..., n], values [..., k]) -> for each value how many elements of its line are less, int32, [..., k]. Lines
// are sorted, the least element first and NaN last. Kernels are declared for int32, the dtype of the output, and take
// numbers of any dtype.
struct lower_bound {
  static constexpr std::string_view name = "LowerBound";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // places are integers: no gradient
};

// The elements that are equal to the value count, too; otherwise it is lower_bound.
struct upper_bound : lower_bound {
  static constexpr std::string_view name = "UpperBound";
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/search/op.ipp>
#endif

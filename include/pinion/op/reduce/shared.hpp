// The parts of reductions that all devices share: stretches of axes, checks, and the dtypes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <pinion/base/dtype.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A stretch of axes: neighbours that are all reduced or all kept, merged into one. Axes of extent 1 are left out.
struct stretch {
  std::int64_t extent;
  bool reduced;
};
inline std::vector<stretch> stretches(const shape& x, axis_set axes) {
  std::vector<stretch> all;
  for (int i = 0; i < x.rank(); ++i) {
    if (x[i] == 1) continue;
    if (!all.empty() && all.back().reduced == axes.has(i))
      all.back().extent *= x[i];
    else
      all.push_back({x[i], axes.has(i)});
  }
  return all;
}

// The shape of x with its reduced axes at extent 1. Throws invalid_argument for a gradient of other extents.
inline shape kept_by_gradient(const shape& dy, const shape& x, axis_set axes) {
  const shape kept = without_axes(x, axes, true);
  if (kept.count() != dy.count())
    throw error(errc::invalid_argument,
                "a gradient of shape " + to_string(dy) + " does not fit a reduction of " + to_string(x));
  return kept;
}

// The way of a gradient back to the elements that a sum or a mean has reduced. Input 0 is the gradient, and the others
// have the shape that was reduced, together.
struct expansion {
  shape like, kept, extent;  // that shape, the same with reduced axes at extent 1, and the shape of the result
  bool is_mean;

  // Throws as kept_by_gradient() does.
  expansion(const kernel_context& c, const attributes& attrs)
      : like(map_layout::space_of(shapes_of(c.inputs.subspan(1)))),
        kept(kept_by_gradient(c.input(0).shape(), like, reduced_axes(attrs, like.rank()))),
        extent(attrs.get_or("narrow", false) ? kept : like),
        is_mean(attrs.get_or("mean", false)) {}
  // The number of elements that each element of a mean came from; 1 for a sum. Requires: there are some.
  std::int64_t divisor() const { return is_mean ? like.count() / kept.count() : 1; }
};

// Throws invalid_argument where a weight of a product's elements has another shape than they.
inline void expect_weights(const shape& x, std::span<const any_tensor> weights) {
  for (const any_tensor& g : weights)
    if (g.shape() != x)
      throw error(errc::invalid_argument,
                  "weights of shape " + to_string(g.shape()) + " for elements of shape " + to_string(x));
}

// A search for the greatest, or the least, along an axis: the extent of the axis, and the product of those behind it.
struct greatest_of {
  std::int64_t n, inner = 1;

  // Throws invalid_argument for an axis without elements.
  greatest_of(const shape& x, int axis) : n(x[axis]) {
    if (n == 0) throw error(errc::invalid_argument, "there is no greatest of no elements: shape " + to_string(x));
    for (int i = axis + 1; i < x.rank(); ++i) inner *= x[i];
  }
};

// Calls f.operator()<T>() with the type of a dtype among dtypes::numbers.
template <class F>
decltype(auto) visit_number(dtype type, F&& f) {
  return visit_plain(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      return f.template operator()<std::uint8_t>();
    else
      return f.template operator()<T>();
  });
}

}}}}  // namespace pinion::v0::op::detail

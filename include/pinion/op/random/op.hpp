// Random tensors: uniform, normal, and normal without the tails.
//
// Attributes "shape", "dtype" and "seed" of all of them; with an input they have its shape, whatever its elements. The
// value of element i in execution e of a session is a function of (seed, e, i) alone: the same on every device and for
// any number of threads. Seed 0: another one each time. Attribute "first", 0 if absent: the elements are those from
// that one on of a larger tensor.
#pragma once

#include <string>

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0::op {

namespace detail {

inline void infer_random(shape_context& c, dtype_set types) {
  const auto type = c.attrs().get<dtype>("dtype");
  const shape& extent = c.inputs() == 1 ? c.shape(0) : c.attrs().get<shape>("shape");
  if (!types.has(type)) c.fail(c.op() + " of " + std::string(to_string(type)) + " is not defined; pn::cast converts");
  if (!extent.known() && c.inputs() == 0)
    c.fail("random values of shape " + to_string(extent) + ": the shape must be known");
  if (const auto first = c.attrs().get_or<std::int64_t>("first", 0); first < 0 || !countable({first}))
    c.fail("random values from element " + std::to_string(first) + " on");
  c.output(type, extent);
}

}  // namespace detail

struct random_op {
  static constexpr input_count inputs{0, 1};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr bool stateful = true;
  static void infer(shape_context& c) { detail::infer_random(c, dtypes::floating); }
  static void gradient(gradient_context&) {}
};

// In [minval, maxval), attributes of type double, 0 and 1 where absent. For integers their difference is at most 2^53.
struct random_uniform : random_op {
  static constexpr std::string_view name = "RandomUniform";
  static constexpr dtype_set types = dtypes::floating | dtype_set{dtype::int32, dtype::int64};
  static constexpr kernel_set kernels{.cpu = types, .gpu = types};
  static void infer(shape_context& c) {
    detail::infer_random(c, types);
    const double low = c.attrs().get_or("minval", 0.0), high = c.attrs().get_or("maxval", 1.0);
    const bool some = is_integer(c.attrs().get<dtype>("dtype")) ? low < high : low <= high;
    if (!some) c.fail("there is no number in [" + std::to_string(low) + ", " + std::to_string(high) + ")");
  }
};

// Attributes "mean" and "stddev" of type double, 0 and 1 where absent.
struct random_normal : random_op {
  static constexpr std::string_view name = "RandomStandardNormal";
};

// The same, drawn again until it is less than two standard deviations from the mean.
struct truncated_normal : random_op {
  static constexpr std::string_view name = "TruncatedNormal";
};

}  // namespace pinion::inline v0::op

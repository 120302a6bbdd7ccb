// Random tensors: uniform, normal, and normal without the tails.
//
// All have attributes "shape", "dtype" and "seed"; with an input they take its shape, and ignore its elements. The
// value of element i in execution e of a session is a function of (seed, e, i) alone, so it is the same on every device
// and for any number of threads. Seed 0 stands for another one each time. Attribute "first" (default 0) is the index of
// the first element within a larger tensor.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

inline constexpr attribute_list draw_attrs{attr::dtype("dtype"), attr::shape("shape").optional(),
                                           attr::integer("seed").optional(), attr::integer("first").optional()};

void infer_random(shape_context& c, dtype_set types);

}  // namespace detail

struct random_op {
  static constexpr input_count inputs{0, 1};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr bool stateful = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// Values in ["minval", "maxval"), attributes of type double, by default 0 and 1. Integers: they differ by at most 2^53.
struct random_uniform : random_op {
  static constexpr std::string_view name = "RandomUniform";
  static constexpr attribute_list attrs =
      detail::draw_attrs + attribute_list{attr::real("minval").optional(), attr::real("maxval").optional()};
  static constexpr dtype_set types = dtypes::floating | dtypes::signed_integers;
  static constexpr kernel_set kernels{.cpu = types, .gpu = types};
  static void infer(shape_context& c);
};

// Normal values. Attributes "mean" and "stddev" have type double, by default 0 and 1.
struct random_normal : random_op {
  static constexpr std::string_view name = "RandomStandardNormal";
  static constexpr attribute_list attrs =
      detail::draw_attrs + attribute_list{attr::real("mean").optional(), attr::real("stddev").optional()};
};

// Normal values, each drawn again until it is less than two standard deviations from the mean.
struct truncated_normal : random_op {
  static constexpr std::string_view name = "TruncatedNormal";
  static constexpr attribute_list attrs =
      detail::draw_attrs + attribute_list{attr::real("mean").optional(), attr::real("stddev").optional()};
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/random/op.ipp>
#endif

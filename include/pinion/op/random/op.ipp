// Bodies of <pinion/op/random/op.hpp>.
#pragma once

#include <cmath>
#include <string>

#include <pinion/base/number_text.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void infer_random(shape_context& c, dtype_set types) {
  const auto type = c.attrs().get<dtype>("dtype");
  if (c.inputs() == 0 && !c.attrs().has("shape")) c.fail(c.op() + " needs attribute 'shape', or an input that has it");
  const shape& extent = c.inputs() == 1 ? c.shape(0) : c.attrs().get<shape>("shape");
  c.expect_dtype(type, types);
  if (!extent.known() && c.inputs() == 0)
    c.fail("random values of shape " + to_string(extent) + ": the shape must be known");
  if (const auto first = c.attrs().get_or<std::int64_t>("first", 0); first < 0 || !countable({first}))
    c.fail("random values from element " + std::to_string(first) + " on");
  c.output(type, extent);
}

// Does [low, high) have an integer, and does the type hold all of them? Kernels count them in 63 bits.
inline bool are_integers(double low, double high, dtype type) {
  const double first = std::ceil(low), end = std::ceil(high), most = type == dtype::int32 ? 0x1p31 : 0x1p63;
  return -most <= first && first < end && end <= most && end - first <= 0x1p63;
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void random_op::infer(shape_context& c) {
  detail::infer_random(c, dtypes::floating);
}

PINION_DECL void random_uniform::infer(shape_context& c) {
  detail::infer_random(c, types);
  const double low = c.attrs().get_or("minval", 0.0), high = c.attrs().get_or("maxval", 1.0);
  const auto type = c.attrs().get<dtype>("dtype");
  const bool some = is_integer(type) ? detail::are_integers(low, high, type) : low <= high;
  if (!some)
    c.fail("there is no number in [" + number_text(low) + ", " + number_text(high) + "), or one that no " +
           std::string(to_string(type)) + " holds");
}

}}}  // namespace pinion::v0::op

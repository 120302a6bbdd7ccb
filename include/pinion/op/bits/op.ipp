// Bodies of <pinion/op/bits/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/bits/op.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace bits {

inline void expect_integers(const shape_context& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    const std::string type(to_string(c.dtype(i)));
    if (!on_bits::types.has(c.dtype(i)))
      c.fail(c.op() + " of " + type + " is not defined; it takes int32, int64 and uint8, and pn::cast converts");
    c.expect_same_dtype(i);
  }
}

}  // namespace bits

PINION_DECL void bitwise_and::infer(shape_context& c) {
  bits::expect_integers(c);
  shape y;
  if (!broadcast(c.shape(0), c.shape(1), y))
    c.fail("shapes " + to_string(c.shape(0)) + " and " + to_string(c.shape(1)) +
           " do not broadcast: aligned at the last axis, extents agree or one of them is 1");
  c.output(c.dtype(0), y);
}

PINION_DECL void invert::infer(shape_context& c) {
  bits::expect_integers(c);
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void population_count::infer(shape_context& c) {
  bits::expect_integers(c);
  c.output(dtype::uint8, c.shape(0));
}

}}}  // namespace pinion::v0::op

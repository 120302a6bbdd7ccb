// An op whose kernel passes its input on.
#pragma once

#include <memory>

#include <pinion/session.hpp>

// A base of ops that do something besides.
struct passing_op {
  static constexpr pinion::input_count inputs = 1;
  static constexpr pinion::kernel_set kernels{.cpu = pinion::dtypes::floating};
  static void infer(pinion::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void pass_on(pinion::kernel_context& c) { c.outputs[0] = c.input(0); }
};

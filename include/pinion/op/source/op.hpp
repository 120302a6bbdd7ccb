// Ops that start values: constants, placeholders, zeros and ones; and the two that only pass on: Identity, NoOp.
#pragma once

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0::op {

// Attribute "value": the tensor.
struct constant {
  static constexpr std::string_view name = "Const";
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c) {
    const auto& value = c.attrs().get<any_tensor>("value");
    c.output(value.dtype(), value.shape());
  }
  static void gradient(gradient_context&) {}
};

// Attributes "dtype", "shape" (may be partly unknown). Must be fed.
struct placeholder {
  static constexpr std::string_view name = "Placeholder";
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.attrs().get<dtype>("dtype"), c.attrs().get<shape>("shape")); }
  static void gradient(gradient_context&) {}
};

// The value of its input; of a reference, what the variable holds when it runs.
struct identity {
  static constexpr std::string_view name = "Identity";
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context& g) { g.set(0, g.output_gradient(0)); }
};

struct zeros_like {
  static constexpr std::string_view name = "ZerosLike";
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context&) {}
};

struct ones_like {
  static constexpr std::string_view name = "OnesLike";
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context&) {}
};

// Runs after its control inputs and yields nothing; what pn::group makes.
struct no_op {
  static constexpr std::string_view name = "NoOp";
  static constexpr dtype_set any = dtypes::all | dtype_set{dtype::invalid};
  static constexpr kernel_set kernels{.cpu = any, .gpu = any};
  static void infer(shape_context&) {}
  static constexpr std::string_view no_gradient = "it yields no value";
};

}  // namespace pinion::inline v0::op

// Ops that start values: constants, placeholders, zeros and ones; and the two that only pass on: Identity, NoOp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0::op {

// Attribute "value": the tensor.
struct constant {
  static constexpr std::string_view name = "Const";
  static constexpr input_count inputs = 0;
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
  static constexpr input_count inputs = 0;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.attrs().get<dtype>("dtype"), c.attrs().get<shape>("shape")); }
  static void gradient(gradient_context&) {}
};

// The value of its input; of a reference, what the variable holds when it runs.
struct identity {
  static constexpr std::string_view name = "Identity";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context& g) { g.pass(0, 0); }
};

struct zeros_like {
  static constexpr std::string_view name = "ZerosLike";
  static constexpr input_count inputs = 1;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context&) {}
};

struct ones_like {
  static constexpr std::string_view name = "OnesLike";
  static constexpr input_count inputs = 1;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void gradient(gradient_context&) {}
};

// "start", "start" + "delta", ... up to and without "limit": attributes of type double, or int64 where "dtype" is an
// integer. [ceil((limit - start) / delta)], or no element.
struct range {
  static constexpr std::string_view name = "Range";
  static constexpr input_count inputs = 0;
  static constexpr dtype_set types = dtypes::floating | dtype_set{dtype::int32, dtype::int64};
  static constexpr kernel_set kernels{.cpu = types, .gpu = types};
  static constexpr std::int64_t most = std::int64_t{1} << 56;  // as many, or more: then they are not counted
  static std::int64_t count(const attributes& attrs) {
    if (is_integer(attrs.get<dtype>("dtype"))) {
      const auto start = attrs.get<std::int64_t>("start"), limit = attrs.get<std::int64_t>("limit"),
                 delta = attrs.get<std::int64_t>("delta");
      if (delta == 0 || (delta > 0) != (limit > start)) return 0;
      const auto distance =
          delta > 0 ? std::uint64_t(limit) - std::uint64_t(start) : std::uint64_t(start) - std::uint64_t(limit);
      const auto step = delta > 0 ? std::uint64_t(delta) : 0 - std::uint64_t(delta);
      return static_cast<std::int64_t>(std::min(distance / step + (distance % step != 0), std::uint64_t(most)));
    }
    const double n = std::ceil((attrs.get<double>("limit") - attrs.get<double>("start")) / attrs.get<double>("delta"));
    return n > 0 ? static_cast<std::int64_t>(std::min(n, static_cast<double>(most))) : 0;
  }
  static void infer(shape_context& c) {
    const auto type = c.attrs().get<dtype>("dtype");
    if (!types.has(type)) c.fail("Range of " + std::string(to_string(type)) + " is not defined; pn::cast converts");
    const bool stands =
        is_integer(type) ? c.attrs().get<std::int64_t>("delta") == 0 : c.attrs().get<double>("delta") == 0;
    if (stands) c.fail("a range in steps of 0 never ends");
    if (count(c.attrs()) == most) c.fail("a range of 2^56 numbers or more, which no memory holds");
    c.output(type, {count(c.attrs())});
  }
  static void gradient(gradient_context&) {}
};

// The extents of its input, int32 [rank]. They are known before an element of it is.
struct shape_of {
  static constexpr std::string_view name = "Shape";
  static constexpr input_count inputs = 1;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}, .gpu = dtype_set{dtype::int32}};
  static constexpr bool metadata = true;
  static void infer(shape_context& c) {
    c.output(dtype::int32, {c.shape(0).has_rank() ? std::int64_t{c.shape(0).rank()} : unknown});
  }
  static void gradient(gradient_context&) {}  // extents do not depend on elements
};

// Runs after its control inputs and yields nothing; what pn::group makes.
struct no_op {
  static constexpr std::string_view name = "NoOp";
  static constexpr input_count inputs = 0;
  static constexpr dtype_set any = dtypes::all | dtype_set{dtype::invalid};
  static constexpr kernel_set kernels{.cpu = any, .gpu = any};
  static void infer(shape_context&) {}
  static constexpr std::string_view no_gradient = "it yields no value";
};

}  // namespace pinion::inline v0::op

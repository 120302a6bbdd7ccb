// Ops without operands: constants, placeholders, zeros and ones, ranges. Also the ops that only pass on: Identity,
// NoOp.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The tensor in attribute "value".
struct constant {
  static constexpr std::string_view name = "Const";
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs{attr::tensor("value")};
  static constexpr bool hands_on = true;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// A tensor of the shape in attribute "shape", in which each element is the number in attribute "value", a scalar. It is
// made where it stands, in each run.
struct fill {
  static constexpr std::string_view name = "Fill";
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs{attr::tensor("value"), attr::shape("shape")};
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// A value that each run must feed. Attributes "dtype" and "shape"; the shape may have unknown extents.
struct placeholder {
  static constexpr std::string_view name = op_names::placeholder;
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs{attr::dtype("dtype"), attr::shape("shape")};
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// The value of its input; for a reference, the value that the variable holds when this runs.
struct identity {
  static constexpr std::string_view name = "Identity";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr bool hands_on = true;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The value of its input, through which no gradient flows.
struct stop_gradient : identity {
  static constexpr std::string_view name = "StopGradient";
  static void gradient(gradient_context&) {}
};

struct zeros_like {
  static constexpr std::string_view name = op_names::zeros_like;
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

struct ones_like {
  static constexpr std::string_view name = "OnesLike";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// The vector "start", "start" + "delta", ... of the numbers before "limit". These attributes have type double, or int64
// where "dtype" is an integer. It has ceil((limit - start) / delta) elements, or none.
struct range {
  static constexpr std::string_view name = "Range";
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs{attr::dtype("dtype"), attr::number("start"), attr::number("limit"),
                                        attr::number("delta")};
  static constexpr dtype_set types = dtypes::floating | dtypes::signed_integers;
  static constexpr kernel_set kernels{.cpu = types, .gpu = types};
  static constexpr std::int64_t most = std::int64_t{1} << 56;  // counts stop here: no memory holds so many
  static std::int64_t count(const attributes& of);
  // The count. Throws invalid_argument for a delta of 0, for NaN, and for more numbers than any memory holds.
  static std::int64_t checked_count(const attributes& of);
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

// The extents of its input, int32 [rank]. They are known before the elements of the input are.
struct shape_of {
  static constexpr std::string_view name = "Shape";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 0;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32}, .gpu = dtype_set{dtype::int32}};
  static constexpr bool metadata = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // extents do not depend on elements
};

// Yields no value; it runs after its control inputs. pn::group makes it.
struct no_op {
  static constexpr std::string_view name = "NoOp";
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs{};
  static constexpr bool hands_on = true;
  static constexpr kernel_set kernels{.cpu = dtypes::any, .gpu = dtypes::any};
  static void infer(shape_context&) {}
  static constexpr std::string_view no_gradient = "it yields no value";
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/source/op.ipp>
#endif

// Elementwise ops. All share one definition, since the scalar program of a node says what it computes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

using shared_program = std::shared_ptr<const scalar::program>;

const scalar::program& program_of(const attributes& attrs);

// The operations that a node computes for each element in one pass, as "add, exp, mul"; "" for a node without a program
// and for one of a single operation.
std::string fused_operations(const node& n);
// A value in another numeric dtype: a Cast, or the value itself where it has that dtype.
output cast_to(graph& g, output value, dtype type, source_location where);

namespace detail {

// The shape that the inputs broadcast to, in which a program runs.
shape space_of_inputs(const work_context& c);

// Counts each instruction of the program once for each element of that shape, which the outputs may be sums over.
double program_work(const work_context& c);

// The shape that the inputs [first, last) broadcast to. Fails where they do not.
shape broadcast_of_inputs(const shape_context& c, int first, int last);

// Checks the dtype of each input: the arithmetic dtype, or bool where the program takes a mask.
void check_program_inputs(const shape_context& c, const scalar::program& p);

}  // namespace detail

// The gradient of an elementwise node, of any order. Result k of attribute "program" is the gradient of input k, summed
// over the axes along which that input was broadcast, so output k has the shape of input k.
struct map_gradient {
  static constexpr std::string_view name = "MapGrad";
  static constexpr input_count inputs = by_program;
  static constexpr attribute_list attrs{attr::program("program")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static dtype key(const node& n) { return program_of(n.attrs).arithmetic; }
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// An elementwise node. Attribute "program" has one result; the node is named after the program's outermost op.
struct any_map {
  static constexpr input_count inputs = by_program;
  static constexpr attribute_list attrs{attr::program("program"), attr::integers("parts").up_to(1 << 10).rewrite(),
                                        attr::tensor("part_names").rewrite()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static dtype key(const node& n) { return program_of(n.attrs).arithmetic; }
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};
template <class Functor>
struct map : any_map {};

namespace detail {

// The gradients of a node that computes p, from the gradients of its results; an absent one means that nothing depends
// on that result.
void differentiate_program(gradient_context& g, const scalar::program& p,
                           const std::vector<std::optional<output>>& adjoints);

// Undoes a cast between floating dtypes before the rest is differentiated.
output cast_back(gradient_context& g, dtype from, dtype to);

}  // namespace detail

// (condition, a, b) for texts, which no program computes: a where the condition holds, b elsewhere. All broadcast.
struct select_text {
  static constexpr std::string_view name = "SelectText";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // text has no gradient
};

// The columns: tag, functor, TensorFlow's op name, base name of the nodes
#define PINION_MAP_OPS(X)                                         \
  X(add, add, "Add", "add")                                       \
  X(bias_add, add, "BiasAdd", "BiasAdd")                          \
  X(subtract, subtract, "Sub", "sub")                             \
  X(multiply, multiply, "Mul", "mul")                             \
  X(divide, divide, "Div", "div")                                 \
  X(minimum, minimum, "Minimum", "Minimum")                       \
  X(maximum, maximum, "Maximum", "Maximum")                       \
  X(power, power, "Pow", "Pow")                                   \
  X(less, less, "Less", "Less")                                   \
  X(less_equal, less_equal, "LessEqual", "LessEqual")             \
  X(greater, greater, "Greater", "Greater")                       \
  X(greater_equal, greater_equal, "GreaterEqual", "GreaterEqual") \
  X(equal, equal, "Equal", "Equal")                               \
  X(not_equal, not_equal, "NotEqual", "NotEqual")                 \
  X(logical_and, logical_and, "LogicalAnd", "LogicalAnd")         \
  X(logical_or, logical_or, "LogicalOr", "LogicalOr")             \
  X(logical_not, logical_not, "LogicalNot", "LogicalNot")         \
  X(negate, negate, "Neg", "Neg")                                 \
  X(absolute, absolute, "Abs", "Abs")                             \
  X(sign, sign_of, "Sign", "Sign")                                \
  X(exp, exponential, "Exp", "Exp")                               \
  X(log, logarithm, "Log", "Log")                                 \
  X(log1p, log_one_plus, "Log1p", "Log1p")                        \
  X(sqrt, square_root, "Sqrt", "Sqrt")                            \
  X(rsqrt, reciprocal_square_root, "Rsqrt", "Rsqrt")              \
  X(square, squared, "Square", "Square")                          \
  X(tanh, hyperbolic_tangent, "Tanh", "Tanh")                     \
  X(erf, error_function, "Erf", "Erf")                            \
  X(erfc, complementary_error_function, "Erfc", "Erfc")           \
  X(sin, sine, "Sin", "Sin")                                      \
  X(cos, cosine, "Cos", "Cos")                                    \
  X(floor, floored, "Floor", "Floor")                             \
  X(ceil, ceiled, "Ceil", "Ceil")                                 \
  X(round, rounded, "Round", "Round")                             \
  X(relu, relu, "Relu", "Relu")                                   \
  X(elu, elu, "Elu", "Elu")                                       \
  X(sigmoid, sigmoid, "Sigmoid", "Sigmoid")                       \
  X(softplus, softplus, "Softplus", "Softplus")                   \
  X(select, selection, "Select", "Select")                        \
  X(custom_map, identity, "Map", "Map")                           \
  X(cast, identity, "Cast", "Cast")                               \
  X(cast_bool, indicator, "Cast", "Cast")                         \
  X(cast_mask, same_mask, "Cast", "Cast")                         \
  X(equal_masks, masks_equal, "Equal", "Equal")                   \
  X(not_equal_masks, masks_differ, "NotEqual", "NotEqual")        \
  X(select_masks, selection_of_masks, "Select", "Select")

// The tags pn::op::add, ..., which policies and place<> use.
#define PINION_MAP_TAG(tag, functor_name, op_name, base) \
  struct tag : map<scalar::functor::functor_name> {      \
    using functor = scalar::functor::functor_name;       \
    static constexpr std::string_view name = op_name;    \
    static constexpr std::string_view base_name = base;  \
  };
PINION_MAP_OPS(PINION_MAP_TAG)
#undef PINION_MAP_TAG

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/op.ipp>
#endif

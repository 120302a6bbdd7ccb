// Elementwise ops: one definition for all of them, since the node's scalar program says what is computed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/map/program_size.hpp>
#include <pinion/op/shape_context.hpp>
#include <pinion/op/work_context.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/program.hpp>

#if PINION_DEFINE_GRAPH
#include <pinion/scalar/cut.hpp>
#include <pinion/scalar/derive_by.hpp>
#endif

namespace pinion::inline v0::op {

using shared_program = std::shared_ptr<const scalar::program>;

inline const scalar::program& program_of(const attributes& attrs) {
  return *attrs.get<shared_program>("program");
}

namespace detail {

// Each instruction of the program once for each element.
inline double program_work(const work_context& c) {
  return c.elements() * static_cast<double>(program_of(c.attrs()).code.size());
}

inline shape broadcast_of_inputs(const shape_context& c, int inputs) {
  shape all{};
  for (int i = 0; i < inputs; ++i) {
    shape wider;
    if (!broadcast(all, c.shape(i), wider))
      c.fail("shapes " + to_string(all) + " and " + to_string(c.shape(i)) +
             " do not broadcast: aligned at the last axis, extents must agree or one of them be 1");
    all = wider;
  }
  return all;
}

// Inputs are of the arithmetic type, or bool where the program takes a mask.
inline void check_program_inputs(const shape_context& c, const scalar::program& p) {
  check_program_size(c, p);
  for (const auto& in : p.code)
    if (scalar::is_real_function(in.op) && !is_floating(p.arithmetic))
      c.fail(c.op() + " is computed in float or double, not " + std::string(to_string(p.arithmetic)) +
             "; pn::cast converts");
  for (const auto& in : p.code) {
    if (in.op != scalar::opcode::input && in.op != scalar::opcode::input_mask) continue;
    const dtype wanted = in.op == scalar::opcode::input_mask ? dtype::boolean : p.arithmetic;
    if (c.dtype(in.a) != wanted)
      c.fail("input " + std::to_string(in.a) + " of " + c.op() + " is " + std::string(to_string(c.dtype(in.a))) +
             ", but " + std::string(to_string(wanted)) + " is wanted; pn::cast converts");
  }
}

}  // namespace detail

// The gradient of elementwise nodes, of any order. Attribute "program": result k is the gradient of input k, summed
// over the axes along which that input was broadcast. So outputs have the shapes of the first inputs.
struct map_gradient {
  static constexpr std::string_view name = "MapGrad";
  static constexpr input_count inputs = by_program;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static dtype key(const node& n) { return program_of(n.attrs).arithmetic; }
  static void infer(shape_context& c) {
    const auto& p = program_of(c.attrs());
    detail::check_program_inputs(c, p);
    detail::broadcast_of_inputs(c, c.inputs());
    for (std::size_t k = 0; k < p.results.size(); ++k) c.output(p.arithmetic, c.shape(static_cast<int>(k)));
  }
  static double work(const work_context& c) { return detail::program_work(c); }
  static void gradient(gradient_context& g);
};

// An elementwise node. Attribute "program", with one result; the node's name is that of its outermost op.
template <class Functor>
struct map {
  static constexpr input_count inputs = by_program;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static dtype key(const node& n) { return program_of(n.attrs).arithmetic; }
  static void infer(shape_context& c) {
    const auto& p = program_of(c.attrs());
    detail::check_program_inputs(c, p);
    c.output(p.results[0].type, detail::broadcast_of_inputs(c, c.inputs()));
  }
  static double work(const work_context& c) { return detail::program_work(c); }
  static void gradient(gradient_context& g);
};

namespace detail {

// The gradients of a node that computes p, given those of its results (absent: nothing depends on that one).
PINION_DECL void differentiate_program(gradient_context& g, const scalar::program& p,
                                       const std::vector<std::optional<output>>& adjoints);

#if PINION_DEFINE_GRAPH
// Nothing flows where a derivative is the constant 0: a step function, fused or not, is no way to an input.
inline bool is_zero(const scalar::program& p, std::size_t result) {
  const auto& in = p.code[p.results[result].value];
  return in.op == scalar::opcode::constant && p.constants[in.a].real == 0;
}

// One MapGrad node for all inputs: the derivative of a program is a program. It is the one of which the DSL has put a
// kernel into this binary. False where it is too great for one node.
inline bool differentiate_at_once(gradient_context& g, const scalar::program& p, output adjoint) {
  auto derived = std::make_shared<scalar::program>(scalar::derive(p));
  if (!scalar::within(*derived)) return false;
  std::vector<output> inputs = g.node().inputs;
  inputs.push_back(adjoint);
  const output all = g.make(map_gradient::name, std::move(inputs), {{"program", shared_program(derived)}});
  for (int k = 0; k < p.inputs; ++k)
    if (is_floating(g.type_of(g.input(k)).dtype) && !is_zero(*derived, static_cast<std::size_t>(k)))
      g.set(k, {all.node, k});
  return true;
}

// By those inputs alone whose gradients are wanted, in as many nodes as it takes. A node that leaves out inputs is still
// as wide as before: each term has a factor of the shape of the whole, the adjoint of a result or that input whose
// gradient it is.
inline void differentiate_in_parts(gradient_context& g, const scalar::program& p,
                                   const std::vector<std::optional<output>>& adjoints) {
  std::vector<output> inputs = g.node().inputs;
  std::vector<scalar::value_id> wanted;
  for (int k = 0; k < p.inputs; ++k)
    if (g.wants(k) && is_floating(g.type_of(g.input(k)).dtype)) wanted.push_back(static_cast<scalar::value_id>(k));
  std::vector<bool> given;
  for (const auto& a : adjoints) {
    given.push_back(a.has_value());
    if (a) inputs.push_back(*a);
  }
  if (wanted.empty()) return;
  const scalar::program derived = scalar::derive_by(p, wanted, given);
  std::vector<output> made;
  for (scalar::piece& part : scalar::cut(derived, wanted)) {
    std::vector<output> from;
    for (const auto& s : part.inputs) from.push_back((s.of_piece ? made : inputs)[static_cast<std::size_t>(s.index)]);
    const auto op = part.results.empty() ? std::string_view("Map") : map_gradient::name;
    made.push_back(g.make(op, std::move(from),
                          {{"program", shared_program(std::make_shared<scalar::program>(std::move(part.code)))}}));
    for (std::size_t k = 0; k < part.results.size(); ++k)
      if (const auto r = static_cast<std::size_t>(part.results[k]); !is_zero(derived, r))
        g.set(wanted[r], {made.back().node, static_cast<int>(k)});
  }
}

PINION_DECL void differentiate_program(gradient_context& g, const scalar::program& p,
                                       const std::vector<std::optional<output>>& adjoints) {
  if (!is_floating(p.arithmetic)) return;
  const bool first_order = g.node().op != map_gradient::name;
  if (!first_order || !differentiate_at_once(g, p, *adjoints[0])) differentiate_in_parts(g, p, adjoints);
}
#endif

// A cast between floating types is undone before the rest is differentiated.
inline output cast_back(gradient_context& g, dtype from, dtype to) {
  auto back = std::make_shared<scalar::program>();
  back->arithmetic = from;
  back->results.push_back({back->emit_input(false), to});
  return g.make("Cast", {g.output_gradient(0)}, {{"program", shared_program(back)}});
}

}  // namespace detail

template <class Functor>
void map<Functor>::gradient(gradient_context& g) {
  scalar::program p = program_of(g.attrs());
  const dtype result = std::exchange(p.results[0].type, p.arithmetic);
  if (result == p.arithmetic) return detail::differentiate_program(g, p, {g.output_gradient(0)});
  if (!is_floating(result) || !is_floating(p.arithmetic)) return;  // a step: nothing flows
  detail::differentiate_program(g, p, {detail::cast_back(g, result, p.arithmetic)});
}

inline void map_gradient::gradient(gradient_context& g) {
  const auto& p = program_of(g.attrs());
  std::vector<std::optional<output>> adjoints(p.results.size());
  for (int k = 0; k < static_cast<int>(adjoints.size()); ++k)
    if (g.has_output_gradient(k)) adjoints[static_cast<std::size_t>(k)] = g.output_gradient(k);
  detail::differentiate_program(g, p, adjoints);
}

// (condition, a, b) of texts, which no program computes: a where the condition holds, b elsewhere; all broadcast.
struct select_text {
  static constexpr std::string_view name = "SelectText";
  static constexpr input_count inputs = 3;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}, .gpu = {}};
  static void infer(shape_context& c) {
    for (int i = 0; i < 3; ++i)
      if (const dtype wanted = i == 0 ? dtype::boolean : dtype::string; c.dtype(i) != wanted)
        c.fail("input " + std::to_string(i) + " of SelectText is " + std::string(to_string(c.dtype(i))) + ", but " +
               std::string(to_string(wanted)) + " is wanted");
    c.output(dtype::string, detail::broadcast_of_inputs(c, 3));
  }
  static void gradient(gradient_context&) {}  // nothing flows through text
};

// tag, functor, TensorFlow's op name, the name a node gets
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

// pn::op::add, ...: the tags that policies and place<> ask for.
#define PINION_MAP_TAG(tag, functor_name, op_name, base) \
  struct tag : map<scalar::functor::functor_name> {      \
    using functor = scalar::functor::functor_name;       \
    static constexpr std::string_view name = op_name;    \
    static constexpr std::string_view base_name = base;  \
  };
PINION_MAP_OPS(PINION_MAP_TAG)
#undef PINION_MAP_TAG

}  // namespace pinion::inline v0::op

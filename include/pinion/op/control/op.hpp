// Control flow: a conditional runs one of two bodies, a loop runs a body as often as a condition holds.
//
// Bodies run as steps of their own, on the devices of the task that runs their node. A body gets values from outside by
// its arguments only; it finds the variables that it reads and writes by their names. A gradient computes again the
// values that follow from a body's arguments. Others, such as random numbers and states, are kept as outputs after
// those that the node was made for; they cost nothing where nobody reads them.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct control_flow {
  static constexpr kernel_set kernels{.cpu = dtypes::any};
  static constexpr bool bears_changing_inputs = true;
  static constexpr bool on_host = true;
};

namespace detail {

void expect_arguments(const shape_context& c, const body& b, int first, std::string_view which);

}  // namespace detail

// (predicate bool [], arguments...) -> the results of body "then" where the predicate holds, of body "else" otherwise.
// The first "results" of each body are those of the node. After them come the results kept of "then", then those kept
// of "else".
struct conditional : control_flow {
  static constexpr std::string_view name = "If";
  static constexpr input_count inputs = at_least(1);
  static constexpr attribute_list attrs{attr::body("then"), attr::body("else"), attr::integer("results")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (variables..., scanned..., invariants...) -> the variables after the last iteration, then the values collected in
// each iteration. In iteration k, body "body" takes the variables, slice k of each scanned tensor, and the invariants.
// Its first results are the next values of the variables; the others are collected as slice k along a new first axis.
// Iterations go on while body "cond", a function of variables and invariants, holds, up to "maximum_iterations";
// without "cond" there is an iteration for each slice of the scanned tensors. k counts from 0, or with "reverse" from
// the last slice down. Attributes "variables" and "scanned" are their numbers; "collected" is the number of collected
// results besides those kept for a gradient.
struct loop : control_flow {
  static constexpr std::string_view name = "While";
  static constexpr input_count inputs = at_least(1);
  static constexpr attribute_list attrs{attr::body("body"),
                                        attr::body("cond").optional(),
                                        attr::integer("variables"),
                                        attr::integer("scanned"),
                                        attr::integer("collected").between(0, 1 << 20),
                                        attr::integer("maximum_iterations").optional(),
                                        attr::flag("reverse").optional()};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The only functions that make these nodes: they add the values that a gradient needs to the results of the bodies.
node_id make_conditional(graph& g, node_request request, std::shared_ptr<body> then, std::shared_ptr<body> otherwise);
node_id make_loop(graph& g, node_request request, shared_body cond, std::shared_ptr<body> loop_body);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/control/op.ipp>
#endif

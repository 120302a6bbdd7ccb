// Control flow: one of two bodies, and a body as often as a condition holds.
//
// Bodies run as steps of their own on the devices of the task of their node. A body draws nothing in from outside but
// its arguments; variables that it reads and writes are found by their names. What a body computes from its arguments
// alone is computed again for a gradient; what cannot be (random numbers, states) is kept, as outputs behind those that
// the node was made for, which cost nothing where nobody reads them.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct control_flow {
  static constexpr kernel_set kernels{.cpu = dtypes::any};
  static constexpr bool on_host = true;
};

namespace detail {

void expect_arguments(const shape_context& c, const body& b, int first, std::string_view which);

}  // namespace detail

// (predicate bool [], arguments...) -> the results of attribute "then" where the predicate holds, of "else" otherwise.
// The first "results" of each are those of the node; behind them stand those kept of "then", then those of "else".
struct conditional : control_flow {
  static constexpr std::string_view name = "If";
  static constexpr input_count inputs = at_least(1);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (variables..., scanned..., invariants...) -> the variables after the last turn, then what is collected in each turn.
// In each turn body "body" is given the variables, slice k of each scanned tensor, and the invariants; its first
// results are the next values of the variables, the others are collected as slice k along a new first axis. It goes on
// while body "cond", of variables and invariants, holds, up to "maximum_iterations" turns; without "cond", for each
// slice of the scanned tensors. k counts from 0 on, or with "reverse" from the last slice down. Attributes "variables",
// "scanned", and "collected": how many of the collected results are not just kept for a gradient.
struct loop : control_flow {
  static constexpr std::string_view name = "While";
  static constexpr input_count inputs = at_least(1);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// Made by these two alone: they add what a gradient needs to the results of the bodies.
node_id make_conditional(graph& g, node_request request, std::shared_ptr<body> then, std::shared_ptr<body> otherwise);
node_id make_loop(graph& g, node_request request, shared_body cond, std::shared_ptr<body> turn);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/control/op.ipp>
#endif

// Small formulas over scalars, such as learning rates: each becomes one node that is computed once a step.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Casts an expression to a dtype with a Cast node. Returns the expression itself if it has that dtype already.
any_expr as_dtype(const any_expr& x, dtype type, source_location where = {});

// Builds one node NAME that computes a program in double. Operands that are numbers become the program's literals, in
// their order, and expressions its inputs, cast to double. Throws invalid_argument for an operand of another graph.
any_expr formula_node(graph& g, const std::string& name, scalar::program program,
                      std::span<const scalar_value> operands, source_location where = {});

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/formula.ipp>
#endif

// Gradients of a graph: reverse mode over its nodes, where each op states its own rule.
#pragma once

#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

// The gradient of the sum of `ys` by each of `xs`; an empty one where no y depends on that x. Adds nodes under the name
// scope "gradients", each on the device that its forward node asks for. Throws unimplemented where a path from an x to
// a y leads through an op without a gradient; the error names that op.
std::vector<std::optional<gradient_value>> differentiate(graph& g, const std::vector<output>& ys,
                                                         const std::vector<output>& xs, source_location where = {});

// The gradient of a sum of ys, each weighted by the gradient given for it, in a graph that need not be the default one.
std::vector<std::optional<gradient_value>> differentiate(const gradient_context::request& r);

// The dense form of a gradient. `like` has its shape.
output to_dense(graph& g, const gradient_value& gradient, output like);

}}}  // namespace pinion::v0::autodiff

#if PINION_HEADER_ONLY
#include <pinion/autodiff/gradients.ipp>
#endif

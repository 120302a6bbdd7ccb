// Gradients of a graph: reverse mode over nodes, each op stating its own rule.
#pragma once

#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

// The gradients of the sum of `ys` by each of `xs`; none where no y depends on x. Adds nodes under the name scope
// "gradients", each on the device that its forward node asks for. Throws unimplemented where the way from an x to a y
// leads through an op without a gradient, and names it.
std::vector<std::optional<gradient_value>> differentiate(graph& g, const std::vector<output>& ys,
                                                         const std::vector<output>& xs, source_location where = {});

// The same of a sum of ys weighted by gradients of theirs, in a graph that need not be the default one.
std::vector<std::optional<gradient_value>> differentiate(const gradient_context::request& r);

// A sparse gradient made dense; `like` has its shape.
output to_dense(graph& g, const gradient_value& gradient, output like);

}}}  // namespace pinion::v0::autodiff

#if PINION_HEADER_ONLY
#include <pinion/autodiff/gradients.ipp>
#endif

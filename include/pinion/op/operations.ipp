// Bodies of <pinion/op/operations.hpp>.
#pragma once

#include <algorithm>
#include <limits>

#include <pinion/op/operations.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL double operations_of(graph_view g, const node& n) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  const definition& def = definition_of(n.op);
  if (def.hands_on) return 0;
  const work_context sizes(g, n, 1);
  double elements = 0;
  const auto add = [&](const output_type& t) { elements += t.shape.known() ? sizes.count(t.shape) : endless; };
  for (int i = 0; i < sizes.inputs(); ++i) add(sizes.input(i));
  for (int i = 0; i < sizes.outputs(); ++i) add(sizes.output(i));
  return def.work ? std::max(elements, def.work(sizes)) : elements;
}

}}  // namespace pinion::v0

// Bodies of <pinion/op/operations.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/operations.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Does the op yield what is there, and touch no element?
inline bool hands_on(std::string_view op_name) {
  constexpr std::array names{op::constant::name, op::identity::name,     op::variable::name,
                             op::no_op::name,    op::reshape::name,      op::expand_dims::name,
                             op::squeeze::name,  op::reshape_like::name, op::merge_axes::name};
  return std::find(names.begin(), names.end(), op_name) != names.end();
}

}  // namespace detail

PINION_DECL double operations_of(graph_view g, const node& n) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  if (detail::hands_on(n.op)) return 0;
  const work_context sizes(g, n, 1);
  double elements = 0;
  const auto add = [&](const output_type& t) { elements += t.shape.known() ? sizes.count(t.shape) : endless; };
  for (int i = 0; i < sizes.inputs(); ++i) add(sizes.input(i));
  for (int i = 0; i < sizes.outputs(); ++i) add(sizes.output(i));
  const definition& def = definition_of(n.op);
  return def.work ? std::max(elements, def.work(sizes)) : elements;
}

}}  // namespace pinion::v0

// Bodies of <pinion/op/slice/functions.hpp>.
#pragma once

#include <string>
#include <vector>

#include <pinion/op/layout/op.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

PINION_DECL std::int64_t axis_to_repeat(const shape& x, std::int64_t axis) {
  if (!x.has_rank())
    throw error(errc::invalid_argument,
                "repeat needs to know how many axes its operand has; a reshape or the shape of a placeholder says so");
  return checked_axis(axis, x.rank());
}

namespace detail {
inline graph& graph_of_all(const std::vector<any_expr>& parts) {
  if (parts.empty()) throw error(errc::invalid_argument, "concat was given no tensors");
  graph* all = nullptr;
  for (const any_expr& part : parts) join_graph(all, part);
  return *all;
}
}  // namespace detail

PINION_DECL any_expr concatenated(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name,
                                  source_location where) {
  graph& g = detail::graph_of_all(parts);
  std::vector<output> inputs;
  for (const any_expr& part : parts) inputs.push_back(endpoint_of(part).endpoint(g));
  const node_id made = build(g, {.op = op::concat::name,
                                 .base_name = std::string(name.empty() ? "concat" : name),
                                 .inputs = std::move(inputs),
                                 .attrs = {{"axis", axis}},
                                 .where = where});
  return {g, {made, 0}};
}

PINION_DECL any_expr stacked(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name,
                             source_location where) {
  graph& g = detail::graph_of_all(parts);
  std::vector<any_expr> expanded;
  for (const any_expr& part : parts)
    expanded.push_back(
        {g, make_node(g, op::expand_dims::name, {}, where, {{"axis", axis}}, {endpoint_of(part, where).endpoint(g)})});
  return concatenated(expanded, axis, name.empty() ? "stack" : name, where);
}

}  // namespace dsl

#define PINION_LIST(T)                                                                                             \
  PINION_DECL dsl::concat_expr<T> concat(std::initializer_list<expr<T>> parts, std::int64_t axis,                  \
                                         std::string_view name, source_location where) {                           \
    return dsl::as_typed<dsl::concat_expr<T>>(dsl::concatenated({parts.begin(), parts.end()}, axis, name, where)); \
  }                                                                                                                \
  PINION_DECL dsl::concat_expr<T> stack(std::initializer_list<expr<T>> parts, std::int64_t axis,                   \
                                        std::string_view name, source_location where) {                            \
    return dsl::as_typed<dsl::concat_expr<T>>(dsl::stacked({parts.begin(), parts.end()}, axis, name, where));      \
  }
PINION_EACH_ELEMENT(PINION_LIST)
#undef PINION_LIST

}}  // namespace pinion::v0

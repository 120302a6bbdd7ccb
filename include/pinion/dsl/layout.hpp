// Other shapes of the same elements, and rows picked out.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>

namespace pinion::inline v0 {

// The same elements in another shape; one extent may be -1, and is found from the rest.
template <dsl::graph_operand A>
auto reshape(A&& x, const shape& to, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::reshape, dsl::value_of<A>>(name, where, {{"shape", to}}, std::forward<A>(x));
}
// Axis i of the result is axis permutation[i] of the operand.
template <dsl::graph_operand A>
auto transpose(A&& x, const integers& permutation, std::string_view name = {},
               source_location where = source_location::current()) {
  return dsl::node_call<op::transpose, dsl::value_of<A>>(name, where, {{"perm", permutation}}, std::forward<A>(x));
}

struct gather_options {
  std::int64_t axis = 0;
  std::string_view name = {};
};
// Rows of params by index: params [r, ...], indices of any shape -> indices' shape + [...]. Its gradient is sparse.
template <dsl::graph_operand P, dsl::graph_operand I>
auto gather(P&& params, I&& indices, const gather_options& options = {},
            source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::gather, dsl::value_of<P>>(options.name, where, {{"axis", options.axis}},
                                                      std::forward<P>(params), std::forward<I>(indices));
}

}  // namespace pinion::inline v0

// Making nodes of ops that are not elementwise: one way for all of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/dsl/expr.hpp>

namespace pinion::inline v0::dsl {

// A node of op Op over graph operands; the element type of its first output is T.
template <class Op, element T, graph_operand... A>
expr<T, made_by<Op>> node_call(std::string_view name, source_location where, attributes attrs, A&&... operands) {
  (check_stored<A>(), ...);
  graph& g = graph_of(operands...);
  std::vector<output> inputs{endpoint_of(operands, where).endpoint()...};
  return {g,
          {build(g, {.op = Op::name,
                     .base_name = std::string(name.empty() ? Op::name : name),
                     .inputs = std::move(inputs),
                     .attrs = std::move(attrs),
                     .where = where}),
           0}};
}

}  // namespace pinion::inline v0::dsl

// Making nodes of ops that are not elementwise: one way for all of them.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// A node of an op over inputs of the graph in use; without a name it is called after its op.
output make_node(graph& g, std::string_view op, std::string_view name, source_location where, attributes attrs,
                 std::initializer_list<output> inputs);

// A node of op Op over graph operands; the element type of its first output is T.
template <class Op, element T, graph_operand... A>
expr<T, made_by<Op>> node_call(std::string_view name, source_location where, attributes attrs, A&&... operands) {
  (check_stored<A>(), ...);
  graph& g = graph_of(operands...);
  return {g, make_node(g, Op::name, name, where, std::move(attrs), {endpoint_of(operands, where).endpoint()...})};
}

}}}  // namespace pinion::v0::dsl

#if PINION_HEADER_ONLY
#include <pinion/dsl/node_call.ipp>
#endif

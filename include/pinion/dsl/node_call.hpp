// Making nodes of ops that are not elementwise.
//
// Spellings of ops (op/FAMILY/functions.hpp) are written with it; programs call these, or pn::call for ops of their
// own.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// Makes a node of an op in `g`, with these inputs. Without a name it is named after its op. The node takes the device,
// the container, the control dependencies and the name scope that are in force. `attrs` must be those of the op's
// definition. A name that is taken gets a number. Throws invalid_argument where the op refuses the inputs; the error
// names the node and the line `where`.
output make_node(graph& g, std::string_view op, std::string_view name, source_location where, attributes attrs,
                 std::initializer_list<output> inputs);

// Makes a node of op Op from graph operands; T is the element type of its first output. Throws invalid_argument where
// the operands belong to several graphs, and where Op's shape function refuses them. A header that spells an op calls
// it like this, for an op of two outputs as well; output_of<U>(made, 1) is the second one:
//
//   template <dsl::graph_operand A>
//   auto softsign(A&& x, std::string_view name = {}) {
//     return dsl::node_call<op::softsign, dsl::value_of<A>>(name, {}, {}, std::forward<A>(x));
//   }
template <class Op, element T, graph_operand... A>
expr<T, made_by<Op>> node_call(std::string_view name, source_location where, attributes attrs, A&&... operands) {
  (check_stored<A>(), ...);
  graph& g = graph_of(operands...);
  return {g, make_node(g, Op::name, name, where, std::move(attrs), {endpoint_of(operands, where).endpoint(g)...})};
}

}}}  // namespace pinion::v0::dsl

#if PINION_HEADER_ONLY
#include <pinion/dsl/node_call.ipp>
#endif

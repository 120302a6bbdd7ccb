// The wire form of nodes and graphs, and the deltas that keep a replica of a growing graph up to date.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/admission.hpp>
#include <pinion/distributed/wire/program.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

namespace distributed {

// The nodes of a graph that a replica of its first `from` nodes lacks.
struct graph_delta {
  node_id from = 0;
  // nodes from id `from` on; none: the node was absorbed into another and left a hole
  std::vector<std::optional<node>> nodes;
  std::vector<node_id> gone;  // ids of nodes that were shipped, and absorbed since
};

// The ids that a replica holds, each a node or a hole. The sender keeps one of these per replica.
struct shipped {
  std::vector<bool> there;

  node_id size() const { return static_cast<node_id>(there.size()); }
  // Call it when the delta has arrived.
  void add(const graph_delta& delta);
};

// Returns the nodes of a graph that a replica holding `before` lacks.
graph_delta delta_since(graph_view g, const shipped& before = {});

inline constexpr node_id most_nodes = 10'000'000;

// The number of nodes that a delta brings, holes and the nodes of bodies among them.
std::int64_t nodes_of(const graph_delta& delta);

// Extends a replica by a delta; its nodes get the ids of the original. The delta is not trusted: an inconsistent one
// throws invalid_argument or not_found and names the node, and the replica then ends before that node.
void apply(graph& replica, graph_delta&& delta, node_id limit = most_nodes, made_by who = made_by::client);

// Extends a replica by a delta that has extended another one with the same nodes, and so needs no check: extension_from
// returns it.
void repeat(graph& replica, const graph_delta& applied);
// Returns the nodes that a delta has added to a replica, which had `from` of them.
graph_delta extension_from(const graph& replica, node_id from, std::vector<node_id> gone);

}  // namespace distributed

template <class A>
void serialize(A& a, output& o) {
  a(o.node, o.index);
}
template <class A>
void serialize(A& a, output_type& type) {
  a(type.dtype, type.shape, type.reference, type.resource);
}

void save_attribute(rpc::writer& a, const attribute& value);
// This is a template so that a type that merely converts to an attribute does not match.
template <std::same_as<attribute> A>
void save(rpc::writer& a, const A& value) {
  save_attribute(a, value);
}

// Attributes are written in the order of their names; on reading, each name may occur once.
void save(rpc::writer& a, const attributes& all);
void load(rpc::reader& a, attributes& all);

// The fields that a graph keeps for its own bookkeeping are not shipped.
void save(rpc::writer& a, const node& n);
void load(rpc::reader& a, node& n);

namespace distributed {

void save(rpc::writer& a, const graph_delta& delta);
// Limits the number of holes: a hole takes one byte here and a whole node in memory. Each absorbed node has left
// instructions in a fused one, so there may not be many more holes than the fused nodes account for.
void load(rpc::reader& a, graph_delta& delta);

}  // namespace distributed

// The body of a control-flow node, as an attribute holds it. Its results must be outputs of its own nodes.
void save(rpc::writer& a, const shared_body& b);
void load(rpc::reader& a, shared_body& b);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/graph.ipp>
#endif

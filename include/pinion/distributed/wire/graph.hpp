// The wire form of nodes and graphs, and the deltas by which a replica of a growing graph is kept.
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/program.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

namespace distributed {

// What a graph has that a replica of its first `from` nodes lacks.
struct graph_delta {
  node_id from = 0;
  std::vector<std::optional<node>> nodes;  // from there on; none: absorbed, a hole
  std::vector<node_id> gone;               // shipped earlier, and absorbed since
};

// What a replica holds, by id: a node, or a hole. Kept by whoever ships the graph, one for each replica.
struct shipped {
  std::vector<bool> there;

  node_id size() const { return static_cast<node_id>(there.size()); }
  // To be called when the delta has arrived.
  void add(const graph_delta& delta);
};

graph_delta delta_since(const graph& g, const shipped& before = {});

inline constexpr node_id most_nodes = 10'000'000;

// Extends a replica, which gets the ids of the original. A delta is not trusted: what does not hold together throws
// invalid_argument or not_found and names the node, and the replica then ends before that node.
void apply(graph& replica, graph_delta&& delta, node_id limit = most_nodes);

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
// A template, so that nothing is taken for an attribute that only converts to one.
template <std::same_as<attribute> A>
void save(rpc::writer& a, const A& value) {
  save_attribute(a, value);
}

// In order of their names, each once.
void save(rpc::writer& a, const attributes& all);
void load(rpc::reader& a, attributes& all);

// What its graph keeps for itself of a node is not shipped.
void save(rpc::writer& a, const node& n);
void load(rpc::reader& a, node& n);

namespace distributed {

void save(rpc::writer& a, const graph_delta& delta);
// A hole takes a byte here and as much as a node in memory, so there may not be many more than fused nodes account for:
// each absorbed one has left instructions behind.
void load(rpc::reader& a, graph_delta& delta);

}  // namespace distributed

// A body, as an attribute holds it. Its ends are outputs that it has.
void save(rpc::writer& a, const shared_body& b);
void load(rpc::reader& a, shared_body& b);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/graph.ipp>
#endif

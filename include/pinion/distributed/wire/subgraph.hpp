// The part of a graph that a worker computes, cut out of the graph together with the partitions of a step, and rebuilt
// by the worker.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/step.hpp>
#include <pinion/distributed/wire/values.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Nodes under new ids, dense and in the order of the original graph; the items of the partitions use these ids. A stub
// is a node that is computed elsewhere: only its name, op, outputs, unless they are a state, and location are present.
struct subgraph {
  std::vector<node> nodes;
  std::vector<bool> stub;
  std::vector<runtime::partition> parts;
  std::uint64_t memory = 0;  // of the nodes, as estimated when they were read

  template <class A>
  void serialize(A& a) {
    a(nodes, stub);
    if constexpr (requires { a.spent(); }) memory = a.spent();
    a(parts);
  }
};

// Cuts out the nodes that the partitions mention, and stubs for the inputs that come from elsewhere. Control inputs
// from outside are dropped, since items list the items that run before them.
subgraph cut(graph_view g, std::vector<runtime::partition> parts);

// Builds the graph of a subgraph from the wire, and takes its nodes. Throws, and names the node, unless every node may
// join the graph and every item agrees with its node.
std::shared_ptr<const graph> rebuild(subgraph& s, node_id limit = most_nodes);
// Checks the partitions against the graph that was rebuilt of such nodes and stubs; rebuild() does.
void expect_parts(const graph& g, const std::vector<bool>& stub, const std::vector<runtime::partition>& parts);

// The least number of feeds and fetches that a run of the partitions needs.
struct ends {
  std::size_t feeds = 0, fetches = 0;
};
ends ends_of(const std::vector<runtime::partition>& parts);

// Throws invalid_argument, and names the node, if partitions from a peer have feeds or fetches: only the master's own
// task has those.
void expect_no_ends(graph_view g, const std::vector<runtime::partition>& parts);

// Throws invalid_argument, and names the node, unless every receive is for this task and from this task or a peer, and
// every send is from this task to one of them: a value that nobody sends would be waited for without end. `is_peer`
// tells whether a task takes part in the step.
void expect_transfers(graph_view g, const std::vector<runtime::partition>& parts, std::string_view task,
                      const std::function<bool(std::string_view)>& is_peer);

// Returns, by the number of each feed, the output that it replaces, for feeds that a computed node here reads. Throws
// invalid_argument if one feed replaces two outputs.
std::map<int, output> fed_outputs(graph_view g, const runtime::partition& part);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/subgraph.ipp>
#endif

// The part of a graph that a worker computes: cut out of it with the partitions of a step, and rebuilt over there.
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

// Nodes under ids of their own, dense and in the order of the graph; the items of the parts name them by these. Of a
// stub, which is computed elsewhere, only name, op, outputs and location are there.
struct subgraph {
  std::vector<node> nodes;
  std::vector<bool> stub;
  std::vector<runtime::partition> parts;

  template <class A>
  void serialize(A& a) {
    a(nodes, stub, parts);
  }
};

// What the items of the parts mention, and where the computed nodes take their inputs from. Control inputs that lead
// out of it are dropped: items say after which others they run.
subgraph cut(const graph& g, std::vector<runtime::partition> parts);

// The graph of a subgraph that came over the wire; takes its nodes. Throws, and names the node, unless every node may
// join the graph and every item says of its node what the graph says.
std::shared_ptr<const graph> rebuild(subgraph& s, node_id limit = most_nodes);

// How many feeds and fetches a run of the parts needs at least.
struct ends {
  std::size_t feeds = 0, fetches = 0;
};
ends ends_of(const std::vector<runtime::partition>& parts);

// Feeds and fetches belong to the master's own task. Throws invalid_argument, and names the node, where parts that came
// from a peer have any.
void expect_no_ends(const graph& g, const std::vector<runtime::partition>& parts);

// Throws invalid_argument, and names the node, unless what is received comes to this task, from here or from a peer of
// the step, and what is sent leaves it for one of them: what nobody sends would be waited for without end. `is_peer`
// tells whether a task takes part in the step.
void expect_transfers(const graph& g, const std::vector<runtime::partition>& parts, std::string_view task,
                      const std::function<bool(std::string_view)>& is_peer);

// The output for which each feed of a partition stands, by the feed's number, as far as something computed here takes
// it. Throws invalid_argument where one feed is taken for two outputs.
std::map<int, output> fed_outputs(const graph& g, const runtime::partition& part);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/subgraph.ipp>
#endif

// Copies of nodes that compute values again, in place of keeping them: for gradients, and for steps that are too large.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

// Is the node a copy, as its name tells in every task: NAME/recompute, or NAME/recompute_2?
bool is_copy(const node& n);

// Which nodes of a graph can be computed again, by id. Those that yield another value in another run cannot, nor can
// constants, what follows from these, and what tells about a value without reading it.
std::vector<bool> repeatable_nodes(graph_view g);

// Makes copies of the nodes of parts of a graph when somebody first asks for one. A copy reads copies of its part, and
// else what its node reads; it waits, itself or through what it reads, for the nodes that it is to come after. Used by
// one thread; refers to the graph.
class remaker {
 public:
  // How copies join a graph, which need not be the one that they are of.
  struct way {
    std::function<output(output)> kept;         // where a value that is not made again is read
    std::function<node_id(node, node_id)> add;  // adds the copy of a node, and returns its id
    std::vector<node_id> waits_for;             // ids in the graph that copies join
  };

  // `part_of` has the part of each node; -1: none. `repeatable` is that of the graph.
  remaker(graph_view g, std::vector<int> part_of, std::vector<bool> repeatable);

  // The part of a node; -1: none.
  int part_of(node_id id) const { return part_of_[static_cast<std::size_t>(id)]; }
  // Is the node computed again where its value is wanted?
  bool remakes(node_id id) const { return part_of(id) >= 0 && repeatable_[static_cast<std::size_t>(id)]; }
  // The copy of a node that is computed again, with the copies that it reads.
  node_id copy_of(node_id id, const way& how);

 private:
  // The nodes that have to be copied for this one, ascending.
  std::vector<node_id> missing(node_id id) const;
  void copy(node_id id, const way& how);
  bool reads_copy_of(node_id in, node_id reader) const { return part_of(in) == part_of(reader) && remakes(in); }

  const graph_view g_;
  const std::vector<int> part_of_;
  const std::vector<bool> repeatable_;
  std::map<node_id, node_id> copies_;
};

}}}  // namespace pinion::v0::autodiff

#if PINION_HEADER_ONLY
#include <pinion/autodiff/remake.ipp>
#endif

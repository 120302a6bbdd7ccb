// Joins items of a GPU's partition to segments.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/executable_item.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The items of an executable after those whose kernels may replay were joined, as many at a time as no other item
// stands between. Items that wait, copy to or from the host, or take over memory stay by themselves.
//
// Every item has a stage, which is the larger the more often the way to it changes between the two kinds. So the items
// of one stage and of the kind that may replay form a segment: a way that leaves it ends in a later stage. An item
// stands in the latest stage that its readers allow, since then constants and reads of variables join their users.
//
// A way may also leave through a send and come back through a receive. Transfers of a step have one order on all its
// devices, in which none waits for a later one, and a receive stands in no earlier stage than the sends before it. So a
// segment that waits for a transfer holds up later ones alone, and no two devices wait for each other.
//
// That order says nothing of nodes that wait for other steps, or for other nodes by way of a queue. Where there are
// some, an item joins a segment only if nothing that stays by itself then waits for more of them than it would anyway.
// So the items of one stage may form several segments, which stand in an order in which they can run.
class segments_of {
 public:
  segments_of(std::vector<executable_item> from, graph_view g, task_services& services);

  std::vector<executable_item> items;
  int slots = 0, inputs = 0;

 private:
  static bool is_free(const executable_item& it) { return it.kind == part_item::compute && it.kernel->may_replay(); }
  using nodes = std::vector<node_id>;  // in order, each once; null stands for all nodes
  // Some items that become one. `behind`: the nodes that may wait and that it comes behind. `before`: those that every
  // item by itself which comes behind it comes behind anyway.
  struct item_group {
    std::vector<std::size_t> items;
    nodes behind;
    std::optional<nodes> before;
  };

  // Numbers that stand for all nodes which an item, or a group, comes behind, where these are more than
  // part_item::most_waits. Whoever comes behind the item waits for all of them; a group's stands for more than anybody
  // is known to wait for, so nothing joins by it.
  node_id stand_in_of_item(std::size_t i) const { return no_node - 1 - static_cast<node_id>(i); }
  node_id stand_in_of_group(std::size_t number) const { return stand_in_of_item(from_.size() + number); }

  std::vector<int> stages() const;
  // By item: `before` of a group of this item alone.
  std::vector<std::optional<nodes>> waits_of_followers() const;
  void group();
  // The group that an item of a stage joins, of those from a number on; a new one where there is none.
  std::size_t group_for(const item_group& alone, std::vector<std::size_t>& of_stage, std::size_t from);
  void find_readers();
  void add_alone(std::size_t i);
  void add_segment(const std::vector<std::size_t>& members);
  void connect();
  // The item that yields a slot, and the number of the output.
  std::size_t producer_of(int slot) const;

  const std::vector<executable_item> from_;
  const graph_view graph_;
  task_services& services_;
  std::vector<item_group> groups_;                // in an order in which they can run
  std::vector<int> group_of_;                     // by item
  std::vector<bool> read_inside_, read_outside_;  // by old slot: does its own group read it, and do others?
  std::vector<int> slot_of_;                      // the new slot of an old one; -1: it is inside a segment
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/segments_of.ipp>
#endif

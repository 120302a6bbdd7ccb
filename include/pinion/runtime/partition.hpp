// Cutting a placed step by device: one partition each, with a send and a receive for every value that crosses.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/placement/plan.hpp>
#include <pinion/runtime/signature.hpp>

namespace pinion::inline v0::runtime {

// An item of a partition: a node to compute, or one of the ends of what comes in and goes out.
struct part_item {
  enum kind_t { compute, feed, fetch, send, receive } kind = compute;
  node_id node = no_node;                        // to compute; of the others the node whose output it carries
  int index = 0;                                 // which feed or fetch; of a receive which output, or -1
  std::string key = {};                          // of a send or receive
  bool peer = false;                             // a send straight to another accelerator of this task
  std::vector<std::pair<int, int>> inputs = {};  // item of this partition, output of it
  std::vector<int> after = {};                   // items that must be done before
  int outputs = 0;
};

struct partition {
  int device = 0;                // index in the plan
  std::vector<part_item> items;  // in an order in which they may run
};

// Partitions of a step whose feeds and fetches live on device `home`. A value goes at most once to each other device; a
// control edge that crosses becomes a value without bytes.
class partitioner {
 public:
  partitioner(const graph& g, const plan& p, const step_signature& s, int home) : g_(g), plan_(p), s_(s), home_(home) {}

  std::vector<partition> run() {
    for (std::size_t i = 0; i < s_.feeds.size(); ++i) {
      part_item item{.kind = part_item::feed, .node = s_.feeds[i].node, .index = static_cast<int>(i), .outputs = 1};
      made_[{home_, s_.feeds[i].node, s_.feeds[i].index}] = {add(home_, std::move(item)), 0};
    }
    for (const placed_node& placed : plan_.nodes()) add_node(placed);
    for (std::size_t i = 0; i < s_.fetches.size(); ++i) {
      part_item item{.kind = part_item::fetch, .node = s_.fetches[i].node, .index = static_cast<int>(i)};
      item.inputs.push_back(value_on(home_, s_.fetches[i]));
      add(home_, std::move(item));
    }
    std::vector<partition> result;
    for (auto& [device, part] : parts_) result.push_back(std::move(part));
    return result;
  }

 private:
  int add(int device, part_item item) {
    partition& part = parts_[device];
    part.device = device;
    part.items.push_back(std::move(item));
    return static_cast<int>(part.items.size()) - 1;
  }

  void add_node(const placed_node& placed) {
    const node& n = g_[placed.id];
    part_item item{.kind = part_item::compute, .node = placed.id, .outputs = static_cast<int>(n.outputs.size())};
    for (const output& in : n.inputs) item.inputs.push_back(value_on(placed.device_index, in));
    for (node_id before : n.control_inputs) item.after.push_back(done_on(placed.device_index, before));
    const int index = add(placed.device_index, std::move(item));
    for (int o = 0; o < static_cast<int>(n.outputs.size()); ++o)
      if (!is_fed({placed.id, o})) made_[{placed.device_index, placed.id, o}] = {index, o};
    home_of_[placed.id] = {placed.device_index, index};
  }

  // Where a device of this step finds a value, received if it was made elsewhere.
  std::pair<int, int> value_on(int device, output o) {
    if (const auto at = made_.find({device, o.node, o.index}); at != made_.end()) return at->second;
    const int from = is_fed(o) ? home_ : home_of_.at(o.node).first;
    const auto source = made_.at({from, o.node, o.index});
    const int received = transfer(from, device, o, std::to_string(o.index), source, {});
    return made_[{device, o.node, o.index}] = {received, 0};
  }
  bool is_fed(output o) const {
    for (const output& f : s_.feeds)
      if (f == o) return true;
    return false;
  }

  // The item of a device after which a node is known to be done.
  int done_on(int device, node_id id) {
    const auto [from, item] = home_of_.at(id);
    if (from == device) return item;
    if (const auto at = signals_.find({device, id}); at != signals_.end()) return at->second;
    return signals_[{device, id}] = transfer(from, device, {id, -1}, "done", {-1, 0}, {item});
  }

  int transfer(int from, int to, output of, const std::string& what, std::pair<int, int> source,
               std::vector<int> after) {
    const std::string key = g_[of.node].name + ":" + what + ";" + plan_.devices()[static_cast<std::size_t>(from)].name +
                            ";" + plan_.devices()[static_cast<std::size_t>(to)].name;
    part_item send{.kind = part_item::send, .node = of.node, .key = key, .after = std::move(after)};
    if (source.first >= 0) {
      send.inputs.push_back(source);
      send.peer = are_peers(from, to);
    }
    add(from, std::move(send));
    return add(to, {.kind = part_item::receive, .node = of.node, .index = of.index, .key = key, .outputs = 1});
  }

  // Two accelerators of one task copy from each other without a way over the host.
  bool are_peers(int a, int b) const {
    const device_spec& x = plan_.devices()[static_cast<std::size_t>(a)].spec;
    const device_spec& y = plan_.devices()[static_cast<std::size_t>(b)].spec;
    return x.type() != "CPU" && x.type() == y.type() && x.job() == y.job() && x.task() == y.task();
  }

  const graph& g_;
  const plan& plan_;
  const step_signature& s_;
  int home_;
  std::map<int, partition> parts_;
  std::map<std::tuple<int, node_id, int>, std::pair<int, int>> made_;
  std::unordered_map<node_id, std::pair<int, int>> home_of_;
  std::map<std::pair<int, node_id>, int> signals_;
};

}  // namespace pinion::inline v0::runtime

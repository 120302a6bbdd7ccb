// Bodies of <pinion/distributed/wire/subgraph.hpp>.
#pragma once

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

inline bool has_state(const node& n) {
  return std::any_of(n.outputs.begin(), n.outputs.end(),
                     [](const output_type& type) { return type.reference || type.resource; });
}

// A state stays with its task: all that others hear of its node is that it is done.
inline node stub_of(const node& n) {
  node stub;
  stub.name = n.name;
  stub.op = n.op;
  if (!has_state(n)) stub.outputs = n.outputs;
  stub.where = n.where;
  stub.settled = true;
  return stub;
}

// The nodes of a subgraph by their ids in the original graph.
class cutting {
 public:
  struct place {
    bool computed = false;
    node_id id = no_node;  // id in the subgraph
  };

  cutting(graph_view g, const std::vector<runtime::partition>& parts) : g_(g) {
    for (const auto& part : parts)
      for (const auto& it : part.items) mention(it);
    node_id next = 0;
    for (auto& entry : places_) entry.second.id = next++;
  }

  node_id id_of(node_id old) const { return places_.at(old).id; }
  void put_nodes(subgraph& into) const {
    for (const auto& [old, at] : places_) {
      into.nodes.push_back(at.computed ? computed(g_[old]) : stub_of(g_[old]));
      into.stub.push_back(!at.computed);
    }
  }

 private:
  void mention(const runtime::part_item& it) {
    place& at = places_[it.node];
    if (it.kind != runtime::part_item::compute || at.computed) return;
    at.computed = true;
    for (const output& in : g_[it.node].inputs) places_.try_emplace(in.node);
  }
  node computed(node n) const {
    for (output& in : n.inputs) in.node = id_of(in.node);
    std::vector<node_id> kept;
    for (const node_id before : n.control_inputs)
      if (places_.contains(before)) kept.push_back(id_of(before));
    n.control_inputs = std::move(kept);
    n.scope = nullptr;
    return n;
  }

  const graph_view g_;
  std::map<node_id, place> places_;
};

// The transfer keys that the partitions of one registration send and receive, each once.
struct used_keys {
  std::unordered_set<std::string_view> sent, received;
};

// Checks the items of a partition against its graph. The keys refer to it.
class part_check {
 public:
  part_check(graph_view g, std::vector<bool>& idle, used_keys& keys, const runtime::partition& part)
      : g_(g), idle_(idle), keys_(keys), part_(part) {}

  void run() {
    expect(part_.device >= 0, "a partition on device " + std::to_string(part_.device));
    for (std::size_t i = 0; i < part_.items.size(); ++i) {
      const runtime::part_item& it = part_.items[i];
      expect(g_.contains(it.node), "an item of node " + std::to_string(it.node) + ", which is not there");
      naming(g_[it.node], [&] { check(it, i); });
    }
    fed_outputs(g_, part_);
  }

 private:
  using item = runtime::part_item;

  void check(const item& it, std::size_t at) {
    check_edges(it, at);
    switch (it.kind) {
      case item::compute: return check_computation(it);
      case item::feed: return check_end(it, 0, 0, 1);
      case item::fetch: return check_end(it, 1, 1, 0);
      case item::send: return check_transfer(it, 0, 1, 0);
      case item::receive: return check_receive(it);
    }
  }

  void check_edges(const item& it, std::size_t at) const {
    const auto is_earlier = [at](int i) { return i >= 0 && static_cast<std::size_t>(i) < at; };
    for (const auto& [from, output] : it.inputs) {
      expect(is_earlier(from), "an item that takes what item " + std::to_string(from) + " yields, and runs before it");
      const item& producer = part_.items[static_cast<std::size_t>(from)];
      expect(output >= 0 && output < producer.outputs, "an item that takes output " + std::to_string(output) +
                                                           " of item " + std::to_string(from) + ", which has " +
                                                           std::to_string(producer.outputs));
      expect(producer.kind != item::receive || producer.index >= 0, "an item that takes a signal for a value");
    }
    for (const int before : it.after)
      expect(is_earlier(before), "an item after item " + std::to_string(before) + ", which is not before it");
  }

  // The item takes the inputs of its node, and no node is computed twice.
  void check_computation(const item& it) {
    const node& n = g_[it.node];
    expect(idle_[static_cast<std::size_t>(it.node)], "it is computed elsewhere, or twice");
    idle_[static_cast<std::size_t>(it.node)] = false;
    check_sizes(it, n.inputs.size(), n.inputs.size(), n.outputs.size());
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      const auto& [from, output] = it.inputs[k];
      const item& producer = part_.items[static_cast<std::size_t>(from)];
      expect(producer.node == n.inputs[k].node && yields(producer, output, n.inputs[k].index),
             "its input " + std::to_string(k) + " is another value than the graph says");
    }
  }
  // Is output `o` of the item the node output with that index? A feed does not say; fed_outputs checks feeds.
  static bool yields(const item& it, int o, int index) {
    return it.kind == item::feed || (it.kind == item::receive ? it.index : o) == index;
  }
  void check_end(const item& it, std::size_t least, std::size_t most, std::size_t outputs) const {
    constexpr int limit = 1 << 20;
    expect(it.index >= 0 && it.index < limit, "a feed or fetch number " + std::to_string(it.index));
    check_passing(it, least, most, outputs);
  }
  void check_transfer(const item& it, std::size_t least, std::size_t most, std::size_t outputs) {
    expect(!it.key.empty(), "a transfer without a key");
    auto& used = it.kind == item::send ? keys_.sent : keys_.received;
    expect(used.insert(it.key.text()).second,
           "the value '" + it.key.text() + "' is " + (it.kind == item::send ? "sent" : "received") + " twice");
    check_passing(it, least, most, outputs);
    expect(!it.narrow || (carries_floats(it) && !it.peer),
           "the value '" + it.key.text() + "' goes as bfloat16, and is not of floats on their way to another task");
  }
  // A feed does not say what it is; the kernel looks when it has the value.
  bool carries_floats(const item& it) const {
    if (it.kind == item::send && it.inputs.empty()) return false;
    const item& source = it.kind == item::send ? part_.items[static_cast<std::size_t>(it.inputs[0].first)] : it;
    const int index = source.kind == item::receive ? source.index : it.inputs[0].second;
    return source.kind == item::feed || (index >= 0 && g_.type_of({it.node, index}).dtype == dtype::float32);
  }
  void check_receive(const item& it) {
    const int outputs = static_cast<int>(g_[it.node].outputs.size());
    expect(it.index >= -1 && it.index < outputs,
           "it is received as output " + std::to_string(it.index) + " of " + std::to_string(outputs));
    check_transfer(it, 0, 0, 1);
  }
  void check_passing(const item& it, std::size_t least, std::size_t most, std::size_t outputs) const {
    check_sizes(it, least, most, outputs);
    for (const auto& [from, unused] : it.inputs)
      expect(part_.items[static_cast<std::size_t>(from)].node == it.node,
             "an item that passes on another node's value");
  }
  static void check_sizes(const item& it, std::size_t least, std::size_t most, std::size_t outputs) {
    expect(it.inputs.size() >= least && it.inputs.size() <= most,
           "an item with " + std::to_string(it.inputs.size()) + " inputs");
    expect(it.outputs == static_cast<int>(outputs), "an item with " + std::to_string(it.outputs) + " outputs");
  }

  const graph_view g_;
  std::vector<bool>& idle_;  // computed nodes that no item computes yet
  used_keys& keys_;
  const runtime::partition& part_;
};

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL subgraph cut(graph_view g, std::vector<runtime::partition> parts) {
  const detail::cutting places(g, parts);
  subgraph result;
  places.put_nodes(result);
  for (auto& part : parts)
    for (auto& it : part.items) it.node = places.id_of(it.node);
  result.parts = std::move(parts);
  return result;
}

PINION_DECL std::map<int, output> fed_outputs(graph_view g, const runtime::partition& part) {
  std::map<int, output> result;
  for (const auto& it : part.items) {
    if (it.kind != runtime::part_item::compute) continue;
    for (std::size_t k = 0; k < it.inputs.size(); ++k) {
      const auto& producer = part.items[static_cast<std::size_t>(it.inputs[k].first)];
      if (producer.kind != runtime::part_item::feed) continue;
      const output wanted = g[it.node].inputs[k];
      detail::expect(result.try_emplace(producer.index, wanted).first->second == wanted,
                     "feed " + std::to_string(producer.index) + " is taken for two outputs");
    }
  }
  return result;
}

PINION_DECL std::shared_ptr<const graph> rebuild(subgraph& s, node_id limit) {
  detail::expect(s.stub.size() == s.nodes.size(), "a subgraph that does not say what is computed elsewhere");
  detail::expect(s.nodes.size() <= static_cast<std::size_t>(limit),
                 "a subgraph of more than " + std::to_string(limit) + " nodes");
  auto g = std::make_shared<graph>();
  for (std::size_t i = 0; i < s.nodes.size(); ++i) {
    cancellable_work::check();
    s.stub[i] ? admit_stub(*g, s.nodes[i]) : admit(*g, s.nodes[i], made_by::master);
    g->adopt(std::move(s.nodes[i]));
  }
  expect_parts(*g, s.stub, s.parts);
  return g;
}

PINION_DECL void expect_parts(const graph& g, const std::vector<bool>& stub,
                              const std::vector<runtime::partition>& parts) {
  std::vector<bool> idle = stub;
  idle.flip();
  detail::used_keys keys;
  for (const auto& part : parts) detail::part_check(graph_view::of_settled(g), idle, keys, part).run();
}

PINION_DECL ends ends_of(const std::vector<runtime::partition>& parts) {
  ends most;
  for (const auto& part : parts)
    for (const auto& it : part.items) {
      const auto reaches = static_cast<std::size_t>(it.index) + 1;
      if (it.kind == runtime::part_item::feed) most.feeds = std::max(most.feeds, reaches);
      if (it.kind == runtime::part_item::fetch) most.fetches = std::max(most.fetches, reaches);
    }
  return most;
}

PINION_DECL void expect_no_ends(graph_view g, const std::vector<runtime::partition>& parts) {
  for (const auto& part : parts)
    for (const auto& it : part.items) {
      if (it.kind != runtime::part_item::feed && it.kind != runtime::part_item::fetch) continue;
      const node& n = g[it.node];
      throw error(errc::invalid_argument,
                  "a part from another task has a feed or a fetch; only the master's own task feeds and fetches")
          .at_node(n.name, n.op, to_string(n.where));
    }
}

namespace detail {

inline void expect_transfer(const runtime::part_item& it, std::string_view task,
                            const std::function<bool(std::string_view)>& is_peer) {
  const bool sends = it.kind == runtime::part_item::send;
  const std::string_view from = it.key.from_task(), to = it.key.to_task();
  expect((sends ? from : to) == task, "the value '" + it.key.text() + "' is " +
                                          (sends ? "sent from " : "received in ") + std::string(task) +
                                          ", and its key says otherwise");
  const std::string_view other = sends ? to : from;
  expect(other == task || is_peer(other), "the value '" + it.key.text() + "' is " + (sends ? "for " : "from ") +
                                              std::string(other) + ", which takes no part in the step");
  expect(!it.peer || (it.inputs.size() == 1 && to == task),
         "the value '" + it.key.text() + "' goes straight to another accelerator of this task, and there is none");
}

}  // namespace detail

PINION_DECL void expect_transfers(graph_view g, const std::vector<runtime::partition>& parts, std::string_view task,
                                  const std::function<bool(std::string_view)>& is_peer) {
  using item = runtime::part_item;
  std::unordered_set<std::string_view> sent;
  for (const auto& part : parts)
    for (const auto& it : part.items)
      if (it.kind == item::send) sent.insert(it.key.text());
  for (const auto& part : parts)
    for (const auto& it : part.items) {
      if (it.kind != item::send && it.kind != item::receive) continue;
      detail::naming(g[it.node], [&] {
        detail::expect_transfer(it, task, is_peer);
        detail::expect(it.kind == item::send || it.key.from_task() != task || sent.count(it.key.text()) > 0,
                       "the value '" + it.key.text() + "' is received, and no part of the step sends it");
      });
    }
}

}}}  // namespace pinion::v0::distributed

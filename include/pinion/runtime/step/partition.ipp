// Bodies of <pinion/runtime/step/partition.hpp>.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/opkit/registry.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/receive_late.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

class partitioner {
 public:
  partitioner(graph_view g, const placement& p, const step_signature& s, int home, const transfer_rules& how)
      : g_(g),
        placed_(p),
        s_(s),
        home_(home),
        narrow_(how.narrow),
        tell_targets_(how.tell_targets),
        parts_(p.devices().size()),
        where_(static_cast<std::size_t>(g.size())) {}

  std::vector<partition> run() {
    for (std::size_t i = 0; i < s_.feeds.size(); ++i) {
      part_item item{.kind = part_item::feed, .node = s_.feeds[i].node, .index = static_cast<int>(i), .outputs = 1};
      const int device = device_of_feed(i);
      const place at{device, add(device, std::move(item))};
      fed_[{s_.feeds[i].node, s_.feeds[i].index}] = at;
      where(s_.feeds[i].node) = at;  // for control edges, if the node itself does not run
    }
    for (std::size_t i = 0; i < placed_.nodes().size(); ++i) add_node(placed_.nodes()[i], placed_.device_index(i));
    for (std::size_t i = 0; i < s_.fetches.size(); ++i) {
      part_item item{.kind = part_item::fetch, .node = s_.fetches[i].node, .index = static_cast<int>(i)};
      item.inputs.push_back(value_on(home_, s_.fetches[i]));
      add(home_, std::move(item));
    }
    if (tell_targets_) tell_targets();
    std::vector<partition> result;
    for (auto& part : parts_)
      if (!part.items.empty()) result.push_back(std::move(part));
    return result;
  }

 private:
  using shared_waits = std::shared_ptr<const std::vector<node_id>>;
  // In place of an output number: the node is done, and it is among those of which one transfer tells.
  static constexpr int done = -1, together = -2;
  struct place {
    int device = -1, item = -1;
  };
  // A value on another device than the one that made it.
  struct received {
    int device;
    node_id node;
    int output;
    friend bool operator==(const received&, const received&) = default;
  };
  struct hash_received {
    std::size_t operator()(const received& v) const {
      const auto a = static_cast<std::uint64_t>(v.device) << 32 | static_cast<std::uint32_t>(v.node);
      return static_cast<std::size_t>((a ^ static_cast<std::uint64_t>(v.output + 1) << 56) * 0x9E3779B97F4A7C15u >> 8);
    }
  };

  int add(int device, part_item item) {
    partition& part = parts_[static_cast<std::size_t>(device)];
    part.device = device;
    part.items.push_back(std::move(item));
    return static_cast<int>(part.items.size()) - 1;
  }
  int device_of_feed(std::size_t i) const {
    if (s_.feed_devices.empty() || s_.feed_devices[i].empty()) return home_;
    const auto& all = placed_.devices();
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& d) { return d.name == s_.feed_devices[i]; });
    if (at == all.end()) throw error(errc::internal, "a feed lies on " + s_.feed_devices[i] + ", which is not there");
    return static_cast<int>(at - all.begin());
  }
  place& where(node_id id) { return where_[static_cast<std::size_t>(id)]; }

  void add_node(node_id id, int device) {
    cancellable_work::check();
    const node& n = g_[id];
    part_item item{.kind = part_item::compute, .node = id, .outputs = static_cast<int>(n.outputs.size())};
    item.inputs.reserve(n.inputs.size());
    for (const output& in : n.inputs) item.inputs.push_back(value_on(device, in));
    item.after = all_done_on(device, id);
    if (may_wait(n)) item.waits = {id};
    note_waits(n, id);
    const int index = add(device, std::move(item));  // before where() is set: add() may move the items
    where(id) = {device, index};
  }

  void tell_targets() {
    auto number = static_cast<int>(s_.fetches.size());
    for (const node_id target : s_.targets) {
      part_item item{.kind = part_item::fetch, .node = target, .index = number++};
      const place at = where(target);
      item.after.push_back(at.device == home_ ? at.item : done_on(home_, target));
      add(home_, std::move(item));
    }
  }

  // True for a node that may wait for other steps: it works on a resource, runs bodies, or is of the program's own.
  bool may_wait(const node& n) const {
    const auto is_resource = [&](const output& in) { return g_.type_of(in).resource; };
    const registered_op* const own = find_registered(n.op);
    return std::any_of(n.inputs.begin(), n.inputs.end(), is_resource) || n.op == op::conditional::name ||
           n.op == op::loop::name || (own && own->def.stateful);
  }
  // Nodes without waits of their own share the list of what they come behind.
  void note_waits(const node& n, node_id id) {
    std::vector<node_id> before = n.control_inputs;
    for (const output& in : n.inputs)
      if (!fed_.contains({in.node, in.index})) before.push_back(in.node);
    shared_waits all = waits_of(before, id);
    if (may_wait(n)) join(all, std::make_shared<const std::vector<node_id>>(1, id), id);
    if (all) waits_.emplace(id, std::move(all));
  }
  // The nodes that some nodes come behind; `id` stands for too many. Null: none.
  shared_waits waits_of(const std::vector<node_id>& nodes, node_id id) const {
    shared_waits all;
    for (const node_id one : nodes)
      if (const auto at = waits_.find(one); at != waits_.end()) join(all, at->second, id);
    return all;
  }
  static void join(shared_waits& all, const shared_waits& more, node_id id) {
    if (all != more) all = all ? both(*all, *more, id) : more;
  }
  // The lists of two ways on which node `id` comes.
  static shared_waits both(const std::vector<node_id>& a, const std::vector<node_id>& b, node_id id) {
    std::vector<node_id> all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    if (all.size() > part_item::most_waits) all = {id};
    return std::make_shared<const std::vector<node_id>>(std::move(all));
  }

  // Returns the item and output that hold a value on a device; if the value was made elsewhere, the item receives it.
  std::pair<int, int> value_on(int device, output o) {
    const auto fed = fed_.empty() ? fed_.end() : fed_.find({o.node, o.index});
    const bool is_fed = fed != fed_.end();
    const int from = is_fed ? fed->second.device : where(o.node).device;
    const std::pair<int, int> source = is_fed ? std::pair(fed->second.item, 0) : std::pair(where(o.node).item, o.index);
    if (from == device) return source;
    const auto [at, fresh] = received_.try_emplace({device, o.node, o.index});
    if (fresh) at->second = transfer({from, device, o, g_[o.node].name, waits_of({o.node}, o.node)}, source, {});
    return {at->second, 0};
  }

  // Returns the items of a device after which all that a node comes behind is known to be done.
  std::vector<int> all_done_on(int device, node_id reader) {
    std::vector<int> items;
    std::map<int, std::vector<node_id>> elsewhere;
    for (const node_id before : g_[reader].control_inputs)
      if (const place from = where(before); from.device == device)
        items.push_back(from.item);
      else
        elsewhere[from.device].push_back(before);
    for (const auto& [from, nodes] : elsewhere) add_done(items, device, reader, from, nodes);
    return items;
  }

  // One transfer tells of several nodes at once. It tells of none twice, so that there are never many more transfers
  // than nodes, whoever waits for which of them; and who waits for some of them alone does not wait for the others.
  void add_done(std::vector<int>& items, int device, node_id reader, int from, const std::vector<node_id>& nodes) {
    if (const auto known = told_together_.find({device, nodes}); known != told_together_.end())
      return items.push_back(known->second);
    std::vector<node_id> fresh, rest;
    for (const node_id id : nodes)
      (received_.contains({device, id, done}) || received_.contains({device, id, together}) ? rest : fresh)
          .push_back(id);
    if (fresh.size() < 2) rest.insert(rest.end(), fresh.begin(), fresh.end()), fresh.clear();
    for (const node_id id : rest) items.push_back(done_on(device, id));
    if (fresh.empty()) return;
    const int told = tell_together(device, reader, from, fresh);
    for (const node_id id : fresh) received_[{device, id, together}] = told;
    told_together_.emplace(std::pair(device, std::move(fresh)), told);
    items.push_back(told);
  }

  // Returns the item of a device after which a node of another is known to be done.
  int done_on(int device, node_id id) {
    const place from = where(id);
    const auto [at, fresh] = received_.try_emplace({device, id, done});
    if (fresh)
      at->second = transfer({from.device, device, {id, done}, g_[id].name, waits_of({id}, id)}, {-1, 0}, {from.item});
    return at->second;
  }
  int tell_together(int device, node_id reader, int from, const std::vector<node_id>& nodes) {
    std::vector<int> after;
    for (const node_id id : nodes) after.push_back(where(id).item);
    return transfer({from, device, {reader, done}, "all before " + g_[reader].name, waits_of(nodes, reader)}, {-1, 0},
                    std::move(after));
  }

  // A crossing from device to device: of an output of a node, or of the word that nodes are done.
  struct crossing {
    int from, to;
    output of;
    std::string name;
    shared_waits waits;
  };
  int transfer(const crossing& c, std::pair<int, int> source, std::vector<int> after) {
    const std::string what = c.of.index == done ? "done" : std::to_string(c.of.index);
    transfer_key key(c.name, what, name_of(c.from), name_of(c.to));
    part_item send{.kind = part_item::send, .node = c.of.node, .key = key, .after = std::move(after)};
    if (source.first >= 0) {
      send.inputs.push_back(source);
      send.peer = are_peers(c.from, c.to);
      send.narrow = is_narrow(c.from, c.to, c.of);
    }
    const bool narrow = send.narrow;
    add(c.from, std::move(send));
    part_item receive{.kind = part_item::receive,
                      .node = c.of.node,
                      .index = c.of.index,
                      .key = std::move(key),
                      .narrow = narrow,
                      .outputs = 1};
    if (c.waits) receive.waits = *c.waits;
    return add(c.to, std::move(receive));
  }
  const device_info& info(int device) const { return placed_.devices()[static_cast<std::size_t>(device)]; }
  const std::string& name_of(int device) const { return info(device).name; }

  // Two accelerators of one task copy directly, not by way of the host.
  bool are_peers(int a, int b) const {
    const device_spec &x = info(a).spec, &y = info(b).spec;
    return x.type() != "CPU" && x.type() == y.type() && in_one_task(x, y);
  }

  bool is_narrow(int from, int to, const output& value) const {
    return narrow_ && !in_one_task(info(from).spec, info(to).spec) && g_.type_of(value).dtype == dtype::float32;
  }

  const graph_view g_;
  const placement& placed_;
  const step_signature& s_;
  int home_;
  bool narrow_, tell_targets_;
  std::vector<partition> parts_;  // one per device
  std::vector<place> where_;      // one per node
  std::map<std::pair<node_id, int>, place> fed_;
  std::unordered_map<received, int, hash_received> received_;
  std::map<std::pair<int, std::vector<node_id>>, int> told_together_;  // by device and nodes
  std::unordered_map<node_id, shared_waits> waits_;                    // part_item::waits of a value of each node
};

// Puts each send behind the last item that it needs, so that values go while others are computed. The order stays one
// in which the items can run, since nothing comes behind a send.
inline void send_early(std::vector<part_item>& items) {
  std::vector<std::pair<int, int>> order;  // the items, each behind that of its first number
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    const part_item& it = items[static_cast<std::size_t>(i)];
    int last = it.kind == part_item::send ? 0 : i;
    if (it.kind == part_item::send) {
      for (const auto& [producer, output] : it.inputs) last = std::max(last, producer);
      for (const int before : it.after) last = std::max(last, before);
    }
    order.emplace_back(last, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> now(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) now[static_cast<std::size_t>(order[i].second)] = static_cast<int>(i);
  std::vector<part_item> sorted;
  for (const auto& [last, i] : order) {
    part_item& it = sorted.emplace_back(std::move(items[static_cast<std::size_t>(i)]));
    for (auto& [producer, output] : it.inputs) producer = now[static_cast<std::size_t>(producer)];
    for (int& before : it.after) before = now[static_cast<std::size_t>(before)];
  }
  items = std::move(sorted);
}

}  // namespace detail

PINION_DECL std::vector<partition> cut_by_device(graph_view g, const placement& placed, const step_signature& s,
                                                 int home, const transfer_rules& transfers) {
  auto parts = detail::partitioner(g, placed, s, home, transfers).run();
  for (partition& part : parts) {
    part.check_values = s.check_values;
    receive_late(part.items, g, transfers.receive_ahead);
    // The streams of accelerators have their order.
    if (placed.devices()[static_cast<std::size_t>(part.device)].spec.type() == "CPU") detail::send_early(part.items);
  }
  return parts;
}

}}}  // namespace pinion::v0::runtime

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
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/receive_late.hpp>
#include <pinion/runtime/step/transfer_key.hpp>

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
  static constexpr int done = -1;  // in place of an output number: the node is done
  struct place {
    int device = -1, item = -1;
  };
  // A value on another device than the one that made it.
  struct guest {
    int device;
    node_id node;
    int output;
    friend bool operator==(const guest&, const guest&) = default;
  };
  struct hash_guest {
    std::size_t operator()(const guest& v) const {
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
    for (node_id before : n.control_inputs) item.after.push_back(done_on(device, before));
    if (may_wait(n)) item.waits = {id};
    note_waits(n, id);
    const int index = add(device, std::move(item));  // before where() is set: add() may move the items
    where(id) = {device, index};
  }

  void tell_targets() {
    auto number = static_cast<int>(s_.fetches.size());
    for (const node_id target : s_.targets) {
      part_item item{.kind = part_item::fetch, .node = target, .index = number++};
      item.after.push_back(done_on(home_, target));
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
    shared_waits all;
    const auto join = [&](const shared_waits& more) {
      if (!more || more == all) return;
      all = all ? both(*all, *more, id) : more;
    };
    const auto join_those_of = [&](node_id before) {
      if (const auto at = waits_.find(before); at != waits_.end()) join(at->second);
    };
    for (const output& in : n.inputs)
      if (!fed_.contains({in.node, in.index})) join_those_of(in.node);
    for (const node_id before : n.control_inputs) join_those_of(before);
    if (may_wait(n)) join(std::make_shared<const std::vector<node_id>>(1, id));
    if (all) waits_.emplace(id, std::move(all));
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
    const auto [at, fresh] = guests_.try_emplace({device, o.node, o.index});
    if (fresh) at->second = transfer(from, device, o, source, {});
    return {at->second, 0};
  }

  // Returns the item of a device after which a node is known to be done.
  int done_on(int device, node_id id) {
    const place from = where(id);
    if (from.device == device) return from.item;
    const auto [at, fresh] = guests_.try_emplace({device, id, done});
    if (fresh) at->second = transfer(from.device, device, {id, done}, {-1, 0}, {from.item});
    return at->second;
  }

  int transfer(int from, int to, output of, std::pair<int, int> source, std::vector<int> after) {
    const std::string what = of.index == done ? "done" : std::to_string(of.index);
    std::string key = transfer_key(g_[of.node].name, what, name_of(from), name_of(to));
    part_item send{.kind = part_item::send, .node = of.node, .key = key, .after = std::move(after)};
    if (source.first >= 0) {
      send.inputs.push_back(source);
      send.peer = are_peers(from, to);
      send.narrow = is_narrow(from, to, of);
    }
    const bool narrow = send.narrow;
    add(from, std::move(send));
    part_item receive{.kind = part_item::receive,
                      .node = of.node,
                      .index = of.index,
                      .key = std::move(key),
                      .narrow = narrow,
                      .outputs = 1};
    if (const auto at = waits_.find(of.node); at != waits_.end()) receive.waits = *at->second;
    return add(to, std::move(receive));
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
  std::unordered_map<guest, int, hash_guest> guests_;
  std::unordered_map<node_id, shared_waits> waits_;  // part_item::waits of a value of each node
};

}  // namespace detail

PINION_DECL std::vector<partition> cut_by_device(graph_view g, const placement& placed, const step_signature& s,
                                                 int home, const transfer_rules& transfers) {
  auto parts = detail::partitioner(g, placed, s, home, transfers).run();
  for (partition& part : parts) receive_late(part.items, g, transfers.receive_ahead);
  return parts;
}

}}}  // namespace pinion::v0::runtime

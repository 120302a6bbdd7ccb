// Bodies of <pinion/distributed/wire/graph.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/distributed/wire/admission.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/graph/attribute_value.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void shipped::add(const graph_delta& delta) {
  for (const auto& n : delta.nodes) there.push_back(n.has_value());
  for (const node_id id : delta.gone) there[static_cast<std::size_t>(id)] = false;
}

namespace detail {

inline std::int64_t nodes_in_bodies(const node& n) {
  std::int64_t all = 0;
  for (const auto& [name, value] : n.attrs) {
    const auto* const held = value.get_if<shared_body>();
    if (!held) continue;
    const graph_view inside = (*held)->view();
    all += inside.size();
    for (node_id id = 0; id < inside.size(); ++id)
      if (inside.contains(id)) all += nodes_in_bodies(inside[id]);
  }
  return all;
}

}  // namespace detail

PINION_DECL std::int64_t nodes_of(const graph_delta& delta) {
  auto all = static_cast<std::int64_t>(delta.nodes.size());
  for (const auto& n : delta.nodes)
    if (n) all += detail::nodes_in_bodies(*n);
  return all;
}

PINION_DECL graph_delta delta_since(graph_view g, const shipped& before) {
  graph_delta delta{before.size(), {}, {}};
  for (node_id id = 0; id < before.size(); ++id)
    if (before.there[static_cast<std::size_t>(id)] && !g.contains(id)) delta.gone.push_back(id);
  for (node_id id = before.size(); id < g.size(); ++id)
    delta.nodes.push_back(g.contains(id) ? std::optional(g[id]) : std::nullopt);
  return delta;
}

}}}  // namespace pinion::v0::distributed

namespace pinion { inline namespace v0 {

namespace detail {

inline constexpr std::uint64_t memory_of_entry = 64;  // of a table: what it takes beside the entry's value

template <std::size_t... I>
void load_alternative(rpc::reader& a, attribute_variant& value, std::size_t which, std::index_sequence<I...>) {
  ((which == I ? void(a(value.emplace<I>())) : void()), ...);
}

}  // namespace detail

PINION_DECL void save_attribute(rpc::writer& a, const attribute& value) {
  a(static_cast<std::uint8_t>(value.index()));
  std::visit([&](const auto& held) { a(held); }, value.value().held);
}
inline attribute load_attribute(rpc::reader& a) {
  constexpr std::size_t types = std::variant_size_v<attribute_variant>;
  attribute_value all;
  const auto which = rpc::load_choice(a, types - 1, "attribute type");
  detail::load_alternative(a, all.held, which, std::make_index_sequence<types>{});
  return attribute(std::move(all));
}

PINION_DECL void save(rpc::writer& a, const attributes& all) {
  a.put_count(static_cast<std::uint64_t>(std::distance(all.begin(), all.end())));
  for (const auto& item : all) a(item.name, item.value);
}

PINION_DECL void load(rpc::reader& a, attributes& all) {
  all = {};
  std::string last;
  for (std::size_t left = a.take_count(), first = left; left > 0; --left) {
    std::string name;
    a(name);
    a.spend(sizeof(attribute_value) + detail::memory_of_entry);
    attribute value = load_attribute(a);
    if (left < first && name <= last) rpc::reader::refuse("a message holds attributes out of order");
    all.set(name, std::move(value));
    last = std::move(name);
  }
}

namespace detail {

template <class A, class Node>
void node_fields(A& a, Node& n) {
  a(n.name, n.op, n.inputs, n.control_inputs, n.attrs, n.outputs);
  a(n.requested, n.request_reason, n.colocation, n.where);
}

}  // namespace detail

PINION_DECL void save(rpc::writer& a, const node& n) {
  detail::node_fields(a, n);
}

PINION_DECL void load(rpc::reader& a, node& n) {
  cancellable_work::check();
  detail::node_fields(a, n);
  a.spend(3 * (n.name.size() + detail::memory_of_entry));  // for its graph, which finds it by name
  n.settled = true;
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void save(rpc::writer& a, const graph_delta& delta) {
  a(delta.from, delta.nodes, delta.gone);
}

PINION_DECL void load(rpc::reader& a, graph_delta& delta) {
  const std::size_t most_holes = 4096 + a.left() / 8;
  a(delta.from);
  delta.nodes.clear();
  std::size_t holes = 0;
  for (std::size_t left = a.take_count(); left > 0; --left) {
    a.spend(sizeof(std::optional<node>));
    a(delta.nodes.emplace_back());
    holes += !delta.nodes.back();
    if (holes > most_holes) rpc::reader::refuse("a message holds a graph of little but absorbed nodes");
  }
  a(delta.gone);
}

}}}  // namespace pinion::v0::distributed

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

// Later nodes go first, since they may be the only consumers of earlier ones.
inline void forget(graph& replica, std::vector<node_id> gone) {
  std::sort(gone.begin(), gone.end(), std::greater<>());
  for (const node_id id : gone) {
    expect(replica.contains(id), "node " + std::to_string(id) + " shall go, but is not there");
    expect(replica.peek(id).consumers == 0, "node '" + replica.peek(id).name + "' shall go, but has consumers");
    replica.absorb(id);
  }
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void apply(graph& replica, graph_delta&& delta, node_id limit, made_by who) {
  detail::expect(delta.from == replica.size(), "a graph of " + std::to_string(replica.size()) +
                                                   " nodes cannot be extended from node " + std::to_string(delta.from));
  detail::expect(static_cast<std::int64_t>(delta.nodes.size()) <= std::int64_t{limit} - replica.size(),
                 "a graph of more than " + std::to_string(limit) + " nodes");
  detail::forget(replica, std::move(delta.gone));
  for (std::optional<node>& n : delta.nodes) {
    cancellable_work::check();
    if (n) admit(replica, *n, who);
    replica.adopt(std::move(n));
  }
}

PINION_DECL void repeat(graph& replica, const graph_delta& applied) {
  detail::forget(replica, applied.gone);
  for (const std::optional<node>& n : applied.nodes) {
    cancellable_work::check();
    replica.adopt(n);
  }
}

PINION_DECL graph_delta extension_from(const graph& replica, node_id from, std::vector<node_id> gone) {
  graph_delta made{from, {}, std::move(gone)};
  for (node_id id = from; id < replica.size(); ++id)
    made.nodes.push_back(replica.contains(id) ? std::optional(replica.peek(id)) : std::nullopt);
  return made;
}

}}}  // namespace pinion::v0::distributed

namespace pinion { inline namespace v0 {

PINION_DECL void save(rpc::writer& a, const shared_body& b) {
  a(distributed::delta_since(b->view()), b->arguments, b->results, b->targets);
}

PINION_DECL void load(rpc::reader& a, shared_body& b) {
  const rpc::deeper level(a);
  distributed::graph_delta whole;
  auto fresh = std::make_shared<body>();
  a(whole, fresh->arguments, fresh->results, fresh->targets);
  distributed::apply(fresh->graph, std::move(whole));
  const graph_view g(fresh->graph);
  const auto is_there = [&g](const output& o) {
    return g.contains(o.node) && o.index >= 0 && o.index < static_cast<int>(g[o.node].outputs.size()) &&
           !g.type_of(o).reference && !g.type_of(o).resource;
  };
  const auto is_node = [&g](node_id id) { return g.contains(id); };
  distributed::detail::expect(std::all_of(fresh->arguments.begin(), fresh->arguments.end(), is_there) &&
                                  std::all_of(fresh->results.begin(), fresh->results.end(), is_there) &&
                                  std::all_of(fresh->targets.begin(), fresh->targets.end(), is_node),
                              "a body has ends that are no values of its nodes");
  b = std::move(fresh);
}

}}  // namespace pinion::v0

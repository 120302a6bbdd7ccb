// Bodies of <pinion/distributed/master/session_graph.hpp>.
#pragma once

#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/distributed/master/session_graph.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/optimize/optimize.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void session_graph::extend(graph_delta delta, std::uint64_t memory) {
  std::lock_guard one_at_a_time(building_);
  expect_sound();
  if (quota_.is_limited()) quota_.take_nodes(nodes_of(delta), memory);
  grow(memory,
       [&] { quota_.is_limited() ? apply_and_keep(std::move(delta), memory) : apply(*graph_, std::move(delta)); });
}

PINION_DECL void session_graph::apply_and_keep(graph_delta delta, std::uint64_t memory) {
  kept_graphs& kept = s_.here.graphs();
  const imprint its = imprint_of(delta, kept.life());
  const node_id from = delta.from;
  auto gone = delta.gone;
  apply(*graph_, std::move(delta));
  held_ = extended(held_, its.of);
  if (!its.is_large()) return;
  known_delta known{extension_from(*graph_, from, std::move(gone)), memory};
  kept.add(held_, std::make_shared<const known_delta>(std::move(known)), memory, host_);
}

PINION_DECL bool session_graph::extend_known(const fingerprint& delta) {
  std::lock_guard one_at_a_time(building_);
  expect_sound();
  const fingerprint then = extended(held_, delta);
  const auto known = s_.here.graphs().find<known_delta>(then);
  if (!known) return false;
  quota_.take_nodes(nodes_of(known->delta), known->memory);
  grow(known->memory, [&] { repeat(*graph_, known->delta); });
  held_ = then;
  return true;
}

PINION_DECL session_graph::made_step session_graph::make(const runtime::step_signature& signature, deadline until,
                                                         prepare_options how) {
  return placed(signature, until, [&](const placement& where) {
    const auto fresh = placed_.run(signature);
    made_step made;
    if (how.lines) made.lines = placement_lines(replica(), where, fresh);
    made.step = std::make_shared<session_step>(cut(improved(signature, where), how.partial));
    const std::uint64_t memory = made.step->memory();
    if (quota_.is_limited()) quota_.expect_room_for_step(runs_.steps(), memory);
    quota_.take(memory);
    return made;
  });
}

PINION_DECL pinion::plan session_graph::plan(const runtime::step_signature& signature, const call_limits& limits) {
  const auto until = after(s_.net, limits.startup);
  placed(signature, until, [](const placement&) { return true; });  // all its tasks are known then
  tasks_.learn_libraries(after(s_.net, limits.operation));
  return placed(signature, until, [&](const placement& where) {
    const auto runs = improved(signature, where);
    cost_model costs = costs_of(where);
    costs.receive_ahead = transfers_.receive_ahead;
    auto made = explain(replica(), where, runs, tasks_.with_libraries(where.devices()), soft_, costs);
    return transfers_.narrow ? narrowed(made, runs) : made;
  });
}

PINION_DECL void session_graph::let_go() {
  if (const std::unique_lock nobody_builds(building_, std::try_to_lock); nobody_builds) graph_.reset();
}

PINION_DECL void session_graph::expect_sound() const {
  runs_.expect_open();
  if (failure_) throw *failure_;
}

PINION_DECL void session_graph::expect_fits(const runtime::step_signature& s) const {
  expect_sound();
  const graph_view g = replica();
  for (const auto* ends : {&s.feeds, &s.fetches})
    for (const auto& o : *ends)
      if (!g.contains(o.node) || o.index < 0 || o.index >= static_cast<int>(g[o.node].outputs.size()))
        throw error(errc::invalid_argument, "a step feeds or fetches an output that is not in its graph");
  std::set<std::pair<node_id, int>> fed;
  for (const auto& o : s.feeds)
    if (!fed.emplace(o.node, o.index).second)
      throw error(errc::invalid_argument, "'" + g[o.node].name + "' was fed twice")
          .at_node(g[o.node].name, g[o.node].op, to_string(g[o.node].where));
  for (const node_id t : s.targets)
    if (!g.contains(t)) throw error(errc::invalid_argument, "a step runs a node that is not in its graph");
}

PINION_DECL std::optional<placement> session_graph::place(const runtime::step_signature& signature) {
  try {
    return placed_.place(replica(), signature, tasks_.devices());
  } catch (const error& e) {
    const bool more = tasks_.met().size() < tasks_.all().size();
    if (e.code() != errc::invalid_argument || !more) throw;
  }
  return std::nullopt;
}

PINION_DECL runtime::optimized_step session_graph::improved(const runtime::step_signature& signature,
                                                            const placement& placed) const {
  if (!optimize_ || signature.check_values) return {nullptr, placed, signature};
  return runtime::optimize(replica(), placed, signature);
}

PINION_DECL session_step session_graph::cut(const runtime::optimized_step& what, bool partial) {
  runtime::transfer_rules transfers = transfers_;
  transfers.tell_targets = partial;
  return cut_by_task(
      what.in_place_of(replica()), what.placement, what.signature, s_.name, runs_.session(), next_step_++,
      [this](const std::string& task) { return tasks_.incarnation_of(task); }, soft_, transfers);
}

PINION_DECL pinion::plan session_graph::narrowed(const pinion::plan& p, const runtime::optimized_step& what) const {
  // Values with their sources and destinations.
  std::set<std::tuple<std::string, std::string_view, std::string_view>> all;
  const graph_view runs = what.in_place_of(replica());
  const auto pieces = runtime::cut_by_device(runs, what.placement, what.signature, 0, transfers_);
  for (const auto& piece : pieces)
    for (const auto& it : piece.items)
      if (it.kind == runtime::part_item::receive && it.narrow)
        all.emplace(output_name(runs[it.node], it.index), it.key.from(), it.key.to());
  plan_figures figures = p.figures();
  for (planned_transfer& t : figures.transfers) {
    const auto name = [&](int d) -> const std::string& { return p.devices()[static_cast<std::size_t>(d)].name; };
    if (!all.contains({t.value, name(t.from), name(t.to)})) continue;
    t.bytes /= 2;
    figures.notes.push_back(t.value + " goes from " + name(t.from) + " to " + name(t.to) + " as bfloat16");
  }
  return pinion::plan(p.devices(), p.nodes(), std::move(figures));
}

}}}  // namespace pinion::v0::distributed

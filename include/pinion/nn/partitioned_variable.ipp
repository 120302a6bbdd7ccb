// Bodies of <pinion/nn/partitioned_variable.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/dsl/trace.hpp>
#include <pinion/graph/scope_state.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

namespace detail {

inline std::vector<row_range> cut(dtype type, const shape& extent, const partitioned_variable_options& o) {
  const std::string culprit = "partitioned variable '" + o.name + "' of shape " + to_string(extent) + ": ";
  if (!extent.known() || extent.rank() == 0 || extent[0] == 0)
    throw error(errc::invalid_argument, culprit + "its shape must be known, and have rows");
  if (!o.partition) throw error(errc::invalid_argument, culprit + "it has no partitioner");
  try {
    return cut_rows(extent[0], o.partition(extent, type));
  } catch (...) {
    const error e = current_error();
    throw error(e.code(), culprit + e.sentence());
  }
}

// Makes the nodes that work on all parts.
inline void put_together(variable_parts& all, source_location where) {
  node_request assigns{.op = op::no_op::name, .where = where, .exact_name = all.name + "/Assign"};
  for (const any_variable& part : all.each) assigns.control_inputs.push_back(part.initializer().id(*all.graph));
  all.initializer = build(*all.graph, std::move(assigns));
  all.read = all.each[0].read_id(*all.graph);
  if (all.each.size() == 1) return;
  node_request whole{
      .op = op::concat::name, .attrs = {{"axis", std::int64_t{0}}}, .where = where, .exact_name = all.name + "/read"};
  for (const any_variable& part : all.each) whole.inputs.push_back({part.read_id(*all.graph), 0});
  all.read = build(*all.graph, std::move(whole));
}

}  // namespace detail

PINION_DECL variable_parts make_parts(dtype type, const shape& extent, const partitioned_variable_options& o,
                                      source_location where, const part_initializer& initial) {
  const std::vector<row_range> ranges = detail::cut(type, extent, o);
  variable_parts all{.graph = default_graph(), .name = variable_name(o.name), .extent = extent, .each = {}};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string suffix = "/part_" + std::to_string(i), part = all.graph->unique_name(all.name + suffix);
    shape own = extent;
    own.set(0, ranges[i].count);
    const variable_options options{.name = part,
                                   .trainable = o.trainable,
                                   .shared_name = o.shared_name.empty() ? "" : o.shared_name + suffix,
                                   .local = o.local};
    all.each.push_back(make_variable(type, initial(ranges[i], own, part), part, options, where));
    note_slice(*all.graph, all.each.back().id(*all.graph), {all.name, extent, ranges[i].first});
  }
  detail::put_together(all, where);
  return all;
}

PINION_DECL output rows_of(const any_expr& whole, const row_range& rows, const shape& extent, const std::string& part,
                           source_location where) {
  integers begin(static_cast<std::size_t>(extent.rank()), 0), size(extent.dims().begin(), extent.dims().end());
  begin[0] = rows.first;
  graph& g = default_graph();
  return {build(g, {.op = op::slice::name,
                    .inputs = {whole.endpoint(g, "its variable")},
                    .attrs = {{"begin", std::move(begin)}, {"size", std::move(size)}},
                    .where = where,
                    .exact_name = part + "/initial_value"}),
          0};
}

PINION_DECL any_expr read_parts(const variable_parts& all, source_location where) {
  if (all.each.size() == 1) return all.each[0].read(where);
  if (scope_state::current().control) {
    std::vector<any_expr> reads;
    for (const any_variable& part : all.each) reads.push_back(part.read(where));
    return concatenated(reads, 0, all.name + "/read", where);
  }
  body_trace* const t = body_trace::current();
  if (t && t->waits_outside()) return t->outside([&] { return read_parts(all, where); });
  return {*all.graph, {all.read, 0}};
}

PINION_DECL std::vector<std::pair<std::string, std::int64_t>> bytes_by_device(const variable_parts& all) {
  std::vector<std::pair<std::string, std::int64_t>> bytes;
  for (const any_variable& part : all.each) {
    const std::string device = to_string(part.requested_device());
    auto at = std::find_if(bytes.begin(), bytes.end(), [&](const auto& known) { return known.first == device; });
    if (at == bytes.end()) at = bytes.insert(at, {device, 0});
    at->second += part.owner().type_of(part.reference(part.owner())).bytes();
  }
  return bytes;
}

PINION_DECL std::string text_of(const variable_parts& all) {
  std::string text = all.name + " " + to_string(all.extent) + " in " + std::to_string(all.each.size()) +
                     (all.each.size() == 1 ? " part" : " parts");
  const char* before = ": ";
  for (const auto& [device, bytes] : bytes_by_device(all)) {
    text += std::exchange(before, ", ") + std::to_string(bytes) + " B ";
    text += device.empty() ? "wherever the placer puts them" : "on " + device;
  }
  return text;
}

}}}  // namespace pinion::v0::dsl

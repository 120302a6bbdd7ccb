// Bodies of <pinion/nn/update_ops.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/traverse.hpp>
#include <pinion/nn/update_ops.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace nn {

namespace detail {

constexpr const char* updates = "update_ops";

// The updates and their causes, attached to the graph.
struct caused_updates {
  std::vector<std::pair<node_id, node_id>> all;
};

inline operation run_all(graph& g, std::vector<node_id> all, std::string_view name, source_location where) {
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = std::move(all);
  return {g, build(g, std::move(request))};
}

}  // namespace detail

PINION_DECL operation update_ops(std::string_view name, source_location where) {
  graph& g = default_graph();
  return detail::run_all(g, g.collection(detail::updates), name, where);
}

PINION_DECL void add_update(const operation& update, const operation& cause) {
  graph& g = update.owner();
  g.add_to_collection(detail::updates, update.id(g));
  g.attached<detail::caused_updates>().all.emplace_back(update.id(g), cause.id(g, "its update's"));
}

PINION_DECL operation updates_of(graph& g, output of, source_location where) {
  const auto& caused = g.attached<detail::caused_updates>().all;
  if (caused.empty()) return {};
  const std::vector<node_id> needed = ancestors(g, {of}, {});
  std::vector<node_id> run;
  for (const auto& [update, cause] : caused)
    if (std::binary_search(needed.begin(), needed.end(), cause)) run.push_back(update);
  return run.empty() ? operation() : detail::run_all(g, std::move(run), detail::updates, where);
}

}}}  // namespace pinion::v0::nn

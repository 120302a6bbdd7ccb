// Bodies of <pinion/graph/graph_view.hpp>.
#pragma once

#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL graph_view::graph_view(graph& g) : graph_(&g) {
  g.settle();
  size_ = g.size();
}

PINION_DECL graph_view graph_view::of_settled(const graph& g) {
  if (!g.settled())
    throw error(errc::internal, "a graph is read as a finished one, and has nodes that are not settled");
  return {g, g.size()};
}

PINION_DECL std::optional<node_view> graph_view::find(std::string_view name) const {
  const node_id id = id_of(name);
  if (id == no_node) return std::nullopt;
  return node_view((*this)[id], (*this)[id].requested);
}

PINION_DECL node_id graph_view::id_of(std::string_view name) const {
  const node_id id = graph_->peek(name);
  return id < size_ ? id : no_node;
}

PINION_DECL const node& graph::operator[](node_id id) {
  return graph_view(*this)[id];
}

PINION_DECL std::optional<node_view> graph::find(std::string_view name) {
  return graph_view(*this).find(name);
}

PINION_DECL node_id graph::id_of(std::string_view name) {
  return graph_view(*this).id_of(name);
}

}}  // namespace pinion::v0

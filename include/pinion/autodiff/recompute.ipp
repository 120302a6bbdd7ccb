// Bodies of <pinion/autodiff/recompute.hpp>.
#pragma once

#include <pinion/autodiff/recompute.hpp>
#include <pinion/autodiff/recomputed_parts.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

PINION_DECL recomputed_scope::recomputed_scope(source_location where) : graph_(default_graph()) {
  auto& parts = graph_->attached<marked_parts>();
  if (parts.open++ == 0) parts.all.push_back({graph_->size(), graph_->size(), where});
}

// The graph may be gone, by reset_default_graph() within the part.
PINION_DECL recomputed_scope::~recomputed_scope() {
  graph* const g = graph_.get();
  if (!g) return;
  auto& parts = g->attached<marked_parts>();
  if (--parts.open == 0) parts.all.back().last = g->size();
}

}}}  // namespace pinion::v0::autodiff

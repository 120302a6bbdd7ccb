// Graphs as text: one line for each node, for people and tests.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// "{mul, add}" of an elementwise node, "transpose_b" of a flag that is set.
std::string text_of(const std::string& name, const attribute& value);

std::string text_of(const output_type& type);

}  // namespace detail

// "y = MatMul(x, W) transpose_b -> float [?, 3]", with "after a, b" where it has control inputs.
std::string to_text(const graph& g, node_id id);

// All nodes, in order, a line each.
std::string to_text(const graph& g);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/text.ipp>
#endif

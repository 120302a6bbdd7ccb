// Graphs as text, one line per node, for people and tests.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// An attribute in one word: "{mul, add}" for an elementwise program, "transpose_b" for a flag that is set.
std::string text_of(const std::string& name, const attribute& value);

// The dtype and shape of an output: "float [?, 3]".
std::string text_of(const output_type& type);

}  // namespace detail

// A node in one line: "y = MatMul(x, W) transpose_b -> float [?, 3]", with "after a, b" where it has control inputs.
std::string to_text(graph_view g, node_id id);

// All nodes in order, one per line.
std::string to_text(graph_view g);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/text.ipp>
#endif

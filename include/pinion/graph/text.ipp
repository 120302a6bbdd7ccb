// Bodies of <pinion/graph/text.hpp>.
#pragma once

#include <pinion/graph/text.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL std::string text_of(const std::string& name, const attribute& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag ? " " + name : "";
  const auto* program = value.get_if<std::shared_ptr<const scalar::program>>();
  if (!program || !*program) return "";
  std::string ops;
  for (const auto& in : (*program)->code)
    if (const auto f = scalar::facts(in.op); f.operands > 0 && in.op != scalar::opcode::partial)
      ops += (ops.empty() ? "" : ", ") + std::string(f.name);
  return " {" + ops + "}";
}

PINION_DECL std::string text_of(const output_type& type) {
  if (type.resource) return "handle";
  return std::string(to_string(type.dtype)) + (type.reference ? "& " : " ") + to_string(type.shape);
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_text(graph_view g, node_id id) {
  const node& n = g[id];
  std::string line = n.name + " = " + n.op + "(";
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    line += (i ? ", " : "") + output_name(g[n.inputs[i].node], n.inputs[i].index);
  line += ")";
  for (const auto& [name, value] : n.attrs) line += detail::text_of(name, value);
  for (std::size_t o = 0; o < n.outputs.size(); ++o) line += (o ? ", " : " -> ") + detail::text_of(n.outputs[o]);
  for (std::size_t i = 0; i < n.control_inputs.size(); ++i)
    line += (i ? ", " : " after ") + g[n.control_inputs[i]].name;
  return line;
}

PINION_DECL std::string to_text(graph_view g) {
  std::string all;
  for (node_id id = 0; id < g.size(); ++id)
    if (g.contains(id)) all += to_text(g, id) + "\n";
  return all;
}

}}  // namespace pinion::v0

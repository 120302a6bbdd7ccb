// Bodies of <pinion/op/elementwise/map.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/map.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/scalar/record.hpp>

namespace pinion { inline namespace v0 { namespace dsl { namespace detail {

// Tells whether a consumer may absorb a temporary's node: it has no other consumer, and was made under the same scopes.
inline bool can_absorb(const graph& g, const any_expr& e) {
  const node& n = g.peek(e.id(g));
  const scope_state& state = scope_state::current();
  if (state.graph != &g && state.control) return false;
  if (n.consumers > 0 || n.pinned || n.scope != state.device || !n.attrs.has("program")) return false;
  if (n.named || !state.colocation.empty() || !n.colocation.empty()) return false;
  if (n.base_name.substr(0, n.base_name.rfind('/') + 1) != state.name_prefix) return false;
  return n.control_inputs == current_control_inputs(n.inputs);
}

PINION_DECL output make_map(graph& g, const map_request& request, std::span<const map_part> operands) {
  using operand = scalar::operand<scalar::program>;
  source_location where = request.where;
  std::vector<operand> parts;
  std::vector<output> inputs;
  std::vector<node_id> absorbed;
  std::vector<std::shared_ptr<const scalar::program>> kept;
  for (const map_part& part : operands) {
    parts.push_back(part.as);
    if (part.as.kind == operand::number_literal) continue;
    if (!part.joins || !can_absorb(g, part.value)) {
      inputs.push_back(part.value.endpoint(g));
      continue;
    }
    const node_id temporary = part.value.id(g);
    const node& n = g.peek(temporary);
    inputs.insert(inputs.end(), n.inputs.begin(), n.inputs.end());
    kept.push_back(n.attrs.get<op::shared_program>("program"));
    absorbed.push_back(temporary);
    if (!where.known()) where = n.where;
    parts.back() = {operand::absorbed, {}, kept.back().get()};
  }
  auto program = std::make_shared<const scalar::program>(
      scalar::compose(scalar::convert_program<scalar::program>(request.own), parts.data(), parts.size()));
  std::sort(absorbed.rbegin(), absorbed.rend());
  for (const node_id id : absorbed) g.absorb(id);
  return {build(g, {.op = std::string(request.op),
                    .base_name = std::string(request.name.empty() ? request.base_name : request.name),
                    .inputs = std::move(inputs),
                    .attrs = {{"program", op::shared_program(std::move(program))}},
                    .where = where,
                    .may_be_absorbed = true,
                    .named = !request.name.empty()}),
          0};
}

}}}}  // namespace pinion::v0::dsl::detail

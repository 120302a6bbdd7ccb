// Bodies of <pinion/graph/scopes.hpp>.
#pragma once

#include <utility>

#include <pinion/base/utf8.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/graph/scopes.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL name_scope::name_scope(std::string_view name) {
  check(name);
  auto& state = scope_state::current();
  state.graph->settle();
  saved_ = state.name_prefix;
  if (name.empty())
    state.name_prefix.clear();
  else if (name.back() == '/')
    state.name_prefix = name;
  else
    state.name_prefix = state.graph->unique_name(saved_ + std::string(name)) + "/";
}

PINION_DECL name_scope::~name_scope() {
  auto& state = scope_state::current();
  state.graph->settle_before_closing();
  state.name_prefix = saved_;
}

PINION_DECL void name_scope::check(std::string_view name) {
  if (!name.empty() && scope_state::current().name_prefix.empty() &&
      std::string_view("_-/\\").find(name[0]) != std::string_view::npos)
    throw error(errc::invalid_argument, "'" + std::string(name) + "' is not a name at the root: it begins with '" +
                                            std::string(1, name[0]) + "'; a letter, a digit or a dot would do");
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view character = pinion::detail::next_character(rest);
    const char c = character[0];
    if (!(letter(c) || (c >= '0' && c <= '9') || std::string_view("._-/\\").find(c) != std::string_view::npos))
      throw error(errc::invalid_argument, "'" + std::string(name) + "' is not a name: it holds '" +
                                              std::string(character) + "'; letters, digits and . _ - / would do");
  }
}

PINION_DECL control_dependencies::~control_dependencies() {
  auto& state = scope_state::current();
  state.graph->settle_before_closing();
  state.control = state.control->outer;
}

PINION_DECL void control_dependencies::open(std::initializer_list<operation> before, bool clears) {
  auto& state = scope_state::current();
  state.graph->settle();
  auto level = std::make_shared<control_scope>();
  for (const operation& op : before) {
    if (op.empty()) throw error(errc::invalid_argument, "control_dependencies: an operation that was never assigned");
    level->before.push_back(op.id(*state.graph, "the default one, in which control_dependencies open"));
  }
  level->first = state.graph->size();
  level->clears = clears;
  level->outer = state.control;
  state.control = std::move(level);
}

PINION_DECL bool comes_from_outside(const node& n) {
  const bool names_state =
      n.inputs.empty() && n.outputs.size() == 1 && (n.outputs[0].reference || n.outputs[0].resource);
  return (n.op == op_names::placeholder || names_state) && n.control_inputs.empty();
}

PINION_DECL void expect_own_scopes(const graph& g) {
  const scope_state& open = scope_state::current();
  if (open.graph == &g) return;
  const auto refuse = [&](node_id of_scope, const char* scope) {
    const node& n = open.graph->peek(of_scope);
    throw error(errc::invalid_argument, "'" + n.name + "', of a " + scope + " scope that is open, belongs to another " +
                                            "graph than the node that is made; each thread has a default graph of its "
                                            "own")
        .at_node(n.name, n.op, to_string(n.where));
  };
  for (const control_scope* s = open.control.get(); s && !s->clears; s = s->outer.get())
    if (!s->before.empty()) refuse(s->before.front(), "control_dependencies");
  if (!open.colocation.empty()) refuse(open.colocation.front(), "colocate_with");
}

PINION_DECL std::vector<node_id> current_control_inputs(const std::vector<output>& inputs) {
  std::vector<node_id> result;
  for (const control_scope* s = scope_state::current().control.get(); s && !s->clears; s = s->outer.get()) {
    const bool dominated = std::any_of(inputs.begin(), inputs.end(), [&](output in) {
      return in.node >= s->first && !comes_from_outside(scope_state::current().graph->peek(in.node));
    });
    if (dominated) continue;
    for (node_id id : s->before) {
      const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&](output in) { return in.node == id; });
      if (!is_input && std::find(result.begin(), result.end(), id) == result.end()) result.push_back(id);
    }
  }
  return result;
}

PINION_DECL container::container(std::string_view name) : saved_(scope_state::current().container) {
  scope_state::current().graph->settle();
  scope_state::current().container = name;
}

PINION_DECL colocate_with::colocate_with(const operation& near)
    : saved_(scope_state::current().device), outer_(scope_state::current().colocation) {
  auto& state = scope_state::current();
  if (near.empty()) throw error(errc::invalid_argument, "colocate_with: an operation that was never assigned");
  const node_id place = near.id(*state.graph, "the default one, in which colocate_with opens");
  state.graph->settle();
  state.device = nullptr;
  state.colocation.push_back(place);
}

PINION_DECL colocate_with::colocate_with(std::nullptr_t)
    : saved_(scope_state::current().device), outer_(std::exchange(scope_state::current().colocation, {})) {}

PINION_DECL colocate_with::~colocate_with() {
  auto& state = scope_state::current();
  state.graph->settle_before_closing();
  state.device = saved_;
  state.colocation = std::move(outer_);
}

}}  // namespace pinion::v0

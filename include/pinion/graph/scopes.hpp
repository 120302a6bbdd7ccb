// The scopes beside the device guard: names, control dependencies, containers, colocation.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <pinion/graph/operation.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion::inline v0 {

// Nodes made while it lives are called "scope/...". A scope opened twice by the same name gets a new one ("scope_1"),
// unless the name ends in '/', which enters exactly that scope again; "" returns to the root.
class [[nodiscard]] name_scope {
 public:
  PINION_GUARD explicit name_scope(std::string_view name) {
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
  name_scope(const name_scope&) = delete;
  ~name_scope() {
    auto& state = scope_state::current();
    state.graph->settle_before_closing();
    state.name_prefix = saved_;
  }

  // Letters, digits and . _ - / \ ; the first of a node's or a root scope's is a letter, a digit or a dot.
  static void check(std::string_view name) {
    if (!name.empty() && scope_state::current().name_prefix.empty() &&
        std::string_view("_-/\\").find(name[0]) != std::string_view::npos)
      throw error(errc::invalid_argument, "'" + std::string(name) + "' is not a name at the root: it begins with '" +
                                              std::string(1, name[0]) + "'; a letter, a digit or a dot would do");
    for (char c : name)
      if (!(letter(c) || (c >= '0' && c <= '9') || std::string_view("._-/\\").find(c) != std::string_view::npos))
        throw error(errc::invalid_argument, "'" + std::string(name) + "' is not a name: it holds '" +
                                                std::string(1, c) + "'; letters, digits and . _ - / would do");
  }

 private:
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  std::string saved_;
};
using variable_scope = name_scope;

// Nodes made while it lives run after the given ones. Scopes add up; `control_dependencies after{nullptr}` starts from
// none. A node that takes an input made inside the scope does not wait itself: its input does.
class [[nodiscard]] control_dependencies {
 public:
  PINION_GUARD control_dependencies(std::initializer_list<operation> before) { open(before, false); }
  PINION_GUARD explicit control_dependencies(std::nullptr_t) { open({}, true); }
  template <class... Op>
  requires(sizeof...(Op) > 0 && (std::is_convertible_v<const Op&, operation> && ...)) PINION_GUARD
      explicit control_dependencies(const Op&... before) {
    open({operation(before)...}, false);
  }
  control_dependencies(const control_dependencies&) = delete;
  ~control_dependencies() {
    auto& state = scope_state::current();
    state.graph->settle_before_closing();
    state.control = state.control->outer;
  }

 private:
  static void open(std::initializer_list<operation> before, bool clears) {
    auto& state = scope_state::current();
    state.graph->settle();
    auto level = std::make_shared<control_scope>();
    for (const operation& op : before) {
      if (op.empty()) throw error(errc::invalid_argument, "control_dependencies: an operation that was never assigned");
      if (&op.owner() != state.graph)
        throw error(errc::invalid_argument, "control_dependencies: node '" + op.name() + "' belongs to another graph")
            .at_node(op.name(), op.op(), to_string(op.node().where));
      level->before.push_back(op.id());
    }
    level->first = state.graph->size();
    level->clears = clears;
    level->outer = state.control;
    state.control = std::move(level);
  }
};

// Is it an argument, a variable or a queue that a body drew in? Such a one was there before any scope, whenever it was
// first used. (One that is made inside a scope has control inputs, or names a state, which waits for nothing.)
inline bool comes_from_outside(const node& n) {
  const bool names_state =
      n.inputs.empty() && n.outputs.size() == 1 && (n.outputs[0].reference || n.outputs[0].resource);
  return (n.op == "Placeholder" || names_state) && n.control_inputs.empty();
}

// The control inputs of a node with these data inputs, by the scopes open now.
inline std::vector<node_id> current_control_inputs(const std::vector<output>& inputs) {
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

// Variables and other state made while it lives are kept under this container, which pn::session::reset clears.
class [[nodiscard]] container {
 public:
  PINION_GUARD explicit container(std::string_view name) : saved_(scope_state::current().container) {
    scope_state::current().graph->settle();
    scope_state::current().container = name;
  }
  container(const container&) = delete;
  ~container() { scope_state::current().container = saved_; }

 private:
  std::string saved_;
};

// Nodes made while it lives stand on the device of the given node. Guards outside it are hidden. Guards inside it have
// a say only where the node asks for no device, as in TensorFlow. The read of a variable, which control_dependencies
// make anew, stands with the variable.
class [[nodiscard]] colocate_with {
 public:
  PINION_GUARD explicit colocate_with(const operation& near) : saved_(scope_state::current().device) {
    auto& state = scope_state::current();
    if (near.empty()) throw error(errc::invalid_argument, "colocate_with: an operation that was never assigned");
    if (&near.owner() != state.graph)
      throw error(errc::invalid_argument, "colocate_with: node '" + near.name() + "' belongs to another graph")
          .at_node(near.name(), near.op(), to_string(near.node().where));
    state.graph->settle();
    state.device = nullptr;
    state.colocation.push_back(near.id());
  }
  colocate_with(const colocate_with&) = delete;
  ~colocate_with() {
    auto& state = scope_state::current();
    state.graph->settle_before_closing();
    state.device = saved_;
    state.colocation.pop_back();
  }

 private:
  std::shared_ptr<const device_scope> saved_;
};

}  // namespace pinion::inline v0

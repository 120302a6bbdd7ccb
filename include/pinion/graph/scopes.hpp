// The scopes other than the device guard: names, control dependencies, containers, colocation. Each is a guard of the
// thread that opens it, and closes in stack order.
//
//   const pn::name_scope layer{"layer_1"};             // nodes are called layer_1/...
//   const pn::control_dependencies after{update};      // nodes run after `update`
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// Nodes made while it lives are named "scope/...". Opening a name a second time yields a new scope, "scope_1"; a name
// that ends in '/' enters that very scope again, and "" returns to the root. Throws invalid_argument for a bad name.
//
// Names tell parts of a model apart in plans, errors and checkpoints. TensorFlow: tf.name_scope; here it names
// variables as well, so variable_scope is the same class. Nothing is shared by opening a scope twice.
//
//   for (int i = 0; i < 3; ++i) {
//     const pn::name_scope layer{"layer"};                 // layer/..., layer_1/..., layer_2/...
//     h = pn::nn::dense(h, 160, pn::relu);                 // layer/dense/kernel, layer_1/dense/kernel, ...
//   }
class [[nodiscard]] name_scope {
 public:
  PINION_GUARD explicit name_scope(std::string_view name);
  name_scope(const name_scope&) = delete;
  ~name_scope();

  // Checks a name: it has letters, digits and . _ - / \ ; a node's, or that of a scope at the root, begins with a
  // letter, a digit or a dot. Throws invalid_argument.
  static void check(std::string_view name);

 private:
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  std::string saved_;
};
using variable_scope = name_scope;

// Nodes made while it lives run after the given operations. Scopes add up; `control_dependencies after{nullptr}` drops
// the outer ones. A node whose input was made inside the scope gets no control input of its own: its input has one.
//
// Throws invalid_argument for an operation that was never assigned, or belongs to another graph than the default one.
// Only nodes made inside wait: an expression that was made before does not, nor does its value change.
//
//   auto count = pn::assign_add(n, 1);
//   const pn::control_dependencies after{count};
//   auto now = n.read();                                   // sees the new value
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
  ~control_dependencies();

 private:
  static void open(std::initializer_list<operation> before, bool clears);
};

// Tells whether a node is an argument of a body, or names a variable or queue there. Such a node waits for nothing,
// whenever its first use was. (A node made inside a scope has control inputs, or names a state.)
bool comes_from_outside(const node& n);

// Throws invalid_argument where scopes of control dependencies or colocation are open, which name nodes of the default
// graph, and the node that is to be made belongs to another one.
void expect_own_scopes(const graph& g);

// The control inputs that the open scopes demand of a node with these data inputs. Requires: the scopes are those of
// the node's graph.
std::vector<node_id> current_control_inputs(const std::vector<output>& inputs);

// States made while it lives, such as variables, are kept under this container, which pn::session::reset clears.
//
// Two states of one name in different containers are two states. TensorFlow: tf.container. It is not checked here; any
// text names a container, and "" is the default one.
class [[nodiscard]] container {
 public:
  PINION_GUARD explicit container(std::string_view name);
  container(const container&) = delete;
  ~container() { scope_state::current().container = saved_; }

 private:
  std::string saved_;
};

// Nodes made while it lives stand on the device of the given node. Guards outside it are hidden. Guards inside it apply
// only where the given node asks for no device, as in TensorFlow. Reads of a variable that control_dependencies make
// anew stand with the variable.
//
// Throws invalid_argument for an operation that was never assigned, or belongs to another graph than the default one.
// It is kept as a constraint of the placer, which a plan shows as the reason "with NAME".
class [[nodiscard]] colocate_with {
 public:
  PINION_GUARD explicit colocate_with(const operation& near);
  // Nodes made while it lives stand where they would outside the open scopes of this kind, as far as no guard was hidden
  // by them. TensorFlow: colocate_with(None, ignore_existing=True).
  PINION_GUARD explicit colocate_with(std::nullptr_t);
  colocate_with(const colocate_with&) = delete;
  ~colocate_with();

 private:
  std::shared_ptr<const device_scope> saved_;
  std::vector<node_id> outer_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/scopes.ipp>
#endif

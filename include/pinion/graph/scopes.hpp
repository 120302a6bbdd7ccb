// The scopes beside the device guard: names, control dependencies, containers, colocation.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// Nodes made while it lives are called "scope/...". A scope opened twice by the same name gets a new one ("scope_1"),
// unless the name ends in '/', which enters exactly that scope again; "" returns to the root.
class [[nodiscard]] name_scope {
 public:
  PINION_GUARD explicit name_scope(std::string_view name);
  name_scope(const name_scope&) = delete;
  ~name_scope();

  // Letters, digits and . _ - / \ ; the first of a node's or a root scope's is a letter, a digit or a dot.
  static void check(std::string_view name);

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
  ~control_dependencies();

 private:
  static void open(std::initializer_list<operation> before, bool clears);
};

// Is it an argument, a variable or a queue that a body drew in? Such a one was there before any scope, whenever it was
// first used. (One that is made inside a scope has control inputs, or names a state, which waits for nothing.)
bool comes_from_outside(const node& n);

// The control inputs of a node with these data inputs, by the scopes open now.
std::vector<node_id> current_control_inputs(const std::vector<output>& inputs);

// Variables and other state made while it lives are kept under this container, which pn::session::reset clears.
class [[nodiscard]] container {
 public:
  PINION_GUARD explicit container(std::string_view name);
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
  PINION_GUARD explicit colocate_with(const operation& near);
  colocate_with(const colocate_with&) = delete;
  ~colocate_with();

 private:
  std::shared_ptr<const device_scope> saved_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/scopes.ipp>
#endif

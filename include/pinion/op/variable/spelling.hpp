// Variables, and the operations on them.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/variable.hpp>

namespace pinion { inline namespace v0 {

struct variable_options {
  std::string name = "Variable";
  bool trainable = true;
  std::string shared_name = "";  // under which state it lives; "" means its own name
  bool local = false;            // not counted among the global variables
};

namespace dsl {

// TensorFlow's four nodes: a/initial_value, a, a/Assign, a/read.
any_variable make_variable(dtype type, output initial, const std::string& full_name, const variable_options& options,
                           source_location where);
// This one makes a constant of the initial value.
any_variable make_variable(any_tensor initial, const variable_options& options, source_location where);

std::string variable_name(const std::string& name);

}  // namespace dsl

// A variable with a constant initial value: a scalar or a host tensor.
template <class V>
requires(element<V> || dsl::is_tensor<V>) auto variable(const V& initial, const variable_options& options = {},
                                                        source_location where = source_location::current()) {
  if constexpr (element<V>) {
    return variable_handle<V>(dsl::make_variable(tensor<V>(initial).untyped(), options, where));
  } else {
    using T = std::remove_cvref_t<decltype(*initial.data())>;
    return variable_handle<T>(dsl::make_variable(initial.untyped(), options, where));
  }
}
// A variable initialised by an expression, which runs only when the initialiser does.
template <dsl::expression E>
auto variable(const E& initial, const variable_options& options = {},
              source_location where = source_location::current()) {
  using T = dsl::value_of<E>;
  return variable_handle<T>(
      dsl::make_variable(dtype_of<T>, initial.endpoint(), dsl::variable_name(options.name), options, where));
}

template <class V>
requires(!element<V> && !dsl::is_tensor<V> && !dsl::expression<V>)
    PINION_REFUSED("a variable begins as a scalar, a pn::tensor or an expression; " PINION_ELEMENT_TYPES)
variable(const V&, const variable_options& = {}) PINION_REFUSAL;

namespace dsl {

template <class Op, element T, class V>
expr<T> make_assignment(const variable_handle<T>& v, V&& value, source_location where) {
  if constexpr (graph_operand<V>)
    static_assert(same_dtype<T, value_of<V>>, "the value has another dtype than the variable; pn::cast<T>(x) converts");
  const endpoint here = drawn_in(v.owner(), v.reference());
  graph& g = *here.of;
  const output input = input_of<T>(g, value, std::string(Op::name) + "/value", where);
  return {g, make_node(g, Op::name, {}, where, {}, {here.what, input})};
}
}  // namespace dsl

// Write a variable when run, and yield its new value. Shapes must agree; assign_add and assign_sub are atomic.
template <element T, class V>
expr<T> assign(const variable_handle<T>& v, V&& value, source_location where = source_location::current()) {
  return dsl::make_assignment<op::assign>(v, std::forward<V>(value), where);
}
template <element T, class V>
expr<T> assign_add(const variable_handle<T>& v, V&& amount, source_location where = source_location::current()) {
  return dsl::make_assignment<op::assign_add>(v, std::forward<V>(amount), where);
}
template <element T, class V>
expr<T> assign_sub(const variable_handle<T>& v, V&& amount, source_location where = source_location::current()) {
  return dsl::make_assignment<op::assign_sub>(v, std::forward<V>(amount), where);
}

// Runs the initialisers of all variables of the default graph made so far.
operation global_variables_initializer(std::string_view name = "init",
                                       source_location where = source_location::current());

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/spelling.ipp>
#endif

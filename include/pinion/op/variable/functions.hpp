// Variables: tensors that outlive a step, and the ops that write them.
//
//   auto w = pn::variable(pn::zeros<float>({784, 10}), {.name = "W"});
//   auto init = pn::global_variables_initializer();   // run it once, before w is read
//   auto step = pn::assign_sub(w, gradient * 0.1f);
//
// The state of a variable lives in the task that runs its node, under its container and its shared name, or its name.
// It outlives steps and sessions. A reader never sees part of an update.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/variable.hpp>

namespace pinion { inline namespace v0 {

// Options of variable. `trainable` puts the variable into the list that optimizers take by default; a counter or a
// moving average says false. Two variables with one shared_name, in one graph or in several, are one state in the task
// that both are placed on; they must agree in dtype and shape, and the first step that uses the second one fails with
// invalid_argument otherwise.
struct variable_options {
  std::string name = "Variable";
  bool trainable = true;
  std::string shared_name = "";  // name of its state; empty: the variable's name
  bool local = false;            // true: not counted among the global variables
};

namespace dsl {

// Makes the four nodes that TensorFlow makes for a variable a: a/initial_value, a, a/Assign, a/read. The graph's
// collections list them.
any_variable make_variable(dtype type, output initial, const std::string& full_name, const variable_options& options,
                           source_location where);
// Makes a variable whose initial value is a constant.
any_variable make_variable(any_tensor initial, const variable_options& options, source_location where);

// A unique full name for a variable, in the current name scope. Throws invalid_argument for a bad name. The graph notes
// a name that was taken. The default name, "Variable", is not noted, since programs that use it expect numbers.
std::string variable_name(const std::string& name);

}  // namespace dsl

// A variable whose initial value is a constant: a scalar or a host tensor. The dtype is that of the C++ type, 3.0f or
// 3.0. A name that is taken gets a number ("W_1"), which a checkpoint then holds. int32 variables have no kernel on
// GPUs.
//
//   auto count = pn::variable(0, {.name = "count", .trainable = false});
//   auto table = pn::variable(pn::tensor<float>{{10, 3}}, {.name = "table"});
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
// A variable whose initial value is an expression. That expression runs only when the variable's initialiser does. The
// variable has the shape of the expression, and every later value must fit it. A random initial value is drawn anew by
// each run of the initialiser.
template <dsl::expression E>
auto variable(const E& initial, const variable_options& options = {},
              source_location where = source_location::current()) {
  using T = dsl::value_of<E>;
  return variable_handle<T>(dsl::make_variable(dtype_of<T>, initial.endpoint(default_graph(), "its variable"),
                                               dsl::variable_name(options.name), options, where));
}

template <class V>
requires(!element<V> && !dsl::is_tensor<V> && !dsl::expression<V>)
    PINION_REFUSED("a variable begins as a scalar, a pn::tensor or an expression; " PINION_ELEMENT_TYPES)
variable(const V&, const variable_options& = {}) PINION_REFUSAL;

namespace dsl {

// Makes the node of an assignment by op Op, in the graph in use.
template <class Op, element T, class V>
expr<T> make_assignment(const variable_handle<T>& v, V&& value, source_location where) {
  if constexpr (graph_operand<V>)
    static_assert(same_dtype<T, value_of<V>>, "the value has another dtype than the variable; pn::cast<T>(x) converts");
  const endpoint here = captured_in(v.owner(), v.reference(v.owner()));
  graph& g = *here.of;
  const output input = input_of<T>(g, value, std::string(Op::name) + "/value", where);
  return {g, make_node(g, Op::name, {}, where, {}, {here.what, input})};
}
}  // namespace dsl

// assign, assign_add and assign_sub write a variable when they run, and yield its new value. The value has the
// variable's dtype and shape. assign_add and assign_sub are atomic. The value may be an expression, a variable, a host
// tensor or a number, and does not broadcast: a shape known to differ throws invalid_argument where the node is made,
// any other fails the step. The result is a copy of the new value.
//
// Nothing orders an assignment and a read of the same step, unless the read is made after it inside
// control_dependencies:
//
//   auto up = pn::assign_add(v, 1.f);
//   pn::control_dependencies after{up};
//   auto seen = v.read();                  // the value that `up` left, or a later one
//
// assign may come first; assign_add and assign_sub of a variable without a value fail with failed_precondition. An
// assignment has no gradient: unimplemented. Integers wrap around, and assign_add of bool or text throws
// invalid_argument.
//
//   sess.run(pn::assign(w, pn::tensor<float>{{784, 10}}));           // from the host: a constant of the graph
//   auto next = pn::placeholder<float>({784, 10});                    // made once, fed with each value
//   auto put = pn::assign(w, next);
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

// An operation that runs the initialisers of all global variables made so far in the default graph. A variable made
// afterwards is not among them, so call this last. Running it again gives all variables their initial values again.
// An initial value that reads other variables reads their initial values, where the step initialises them too, and what
// they hold otherwise. A variable that is read without a value fails the step with failed_precondition.
operation global_variables_initializer(std::string_view name = "init",
                                       source_location where = source_location::current());

// The variables made so far in the default graph, in the order in which they were made: all but the local ones, or those
// that an optimizer trains. With the name of a scope, only those in it. TensorFlow: tf.global_variables and
// tf.trainable_variables, whose scope is a regular expression.
//
//   auto tune = tr::adam{{}}.minimize(loss, {.variables = pn::trainable_variables("head")});
std::vector<operation> global_variables(std::string_view scope = {});
std::vector<operation> trainable_variables(std::string_view scope = {});

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/functions.ipp>
#endif

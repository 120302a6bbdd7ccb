// Variables as operands: handles of their nodes.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 {

// A variable, without its element type: the node that names it, its initialiser, and its read. A value; refers to a
// graph that must outlive it. The state lives in the task that runs the node. It is made by pn::variable, and by
// variable_of for a node of a graph that was read. Two handles are of one variable where their operations are equal.
class any_variable {
 public:
  any_variable() = default;
  any_variable(graph& g, node_id variable, node_id assign, node_id read)
      : graph_(g), variable_(variable), assign_(assign), read_(read) {}

  // True for a handle that was never assigned. Functions that read its node throw invalid_argument then, and
  // failed_precondition where the graph was destroyed.
  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  // The number of the node, for use in `in`, and the output that ops which write take as an input, which names the
  // state and is no value. Throw invalid_argument for a variable of another graph than `in`, which is that of `whose`,
  // and what owner() throws.
  node_id id(const graph& in, std::string_view whose = "what uses it") const {
    return graph_.number_in(in, variable_, whose);
  }
  output reference(const graph& in, std::string_view whose = "what uses it") const { return {id(in, whose), 0}; }
  const std::string& name() const;
  const std::string& op() const;
  const device_spec& requested_device() const;
  // The shape of the initial value, which every later value fits.
  const pinion::shape& shape() const;

  node_id read_id(const graph& in) const { return graph_.number_in(in, read_, "what uses it"); }
  // An operation that gives the variable its initial value. Running it again gives the variable that value again, drawn
  // anew where it is random.
  operation initializer() const { return {*graph_, assign_}; }
  operator operation() const { return {*graph_, variable_}; }

  // The variable's value; see variable_handle.
  any_expr read(source_location where) const;

 private:
  graph_ref graph_;
  node_id variable_ = no_node, assign_ = no_node, read_ = no_node;
};

// A variable of element type T. A value; refers to a graph that must outlive it. It is an operand like an expression,
// and converts to expr<T>, which reads it. Fetching it yields its value; feeding it takes the place of its read in that
// step, and leaves the state alone.
//
//   pn::variable_handle<float> W = pn::variable(pn::zeros<float>({784, 10}), {.name = "W"});
//   auto y = pn::matmul(x, W);
//   pn::tensor<float> now = sess.run(W);
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class variable_handle : public any_variable,
                                                                                public dsl::operators {
 public:
  using value_type = T;

  using any_variable::any_variable;
  explicit variable_handle(const any_variable& v) : any_variable(v) {}

  // The value of the variable. All consumers share one read. Inside control_dependencies a call makes a read of its
  // own, which sees the effects of those dependencies. In a body whose node has to wait for control dependencies, it
  // makes a read before that node. The shared read sees the state at some moment of the step: an assignment of the same
  // step may come before or after it.
  expr<T> read(source_location where = source_location::current()) const {
    return dsl::as_typed<expr<T>>(any_variable::read(where));
  }
  operator expr<T>() const { return read({}); }
};

// The variable of a VariableV2 node, whose assign and read the graph keeps with it. Throws not_found for a node that
// variable() did not make. A caller that knows the dtype gives it: variable_handle<float>(variable_of(g, id)).
any_variable variable_of(graph& g, node_id state);

namespace dsl {

// Records a variable with its graph. Its maker calls it once.
void keep_variable(const any_variable& v);

template <partitioned A>
void join_graph(graph*& all, const A& a) {
  if (a.empty()) return join_graph(all, any_variable());
  join_graph(all, a.parts().front());
}

template <partitioned A>
any_expr endpoint_of(const A& a, source_location where) {
  if (a.empty()) return endpoint_of(any_variable(), where);
  return endpoint_of(a.read(where), where);
}

}  // namespace dsl
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/variable.ipp>
#endif

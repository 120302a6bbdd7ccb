// Variables as operands: handles of their nodes.
#pragma once

#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 {

// A variable, without its element type: the node that names it, its initialiser, and its read. A value; refers to a
// graph that must outlive it. The state lives in the task that runs the node.
class any_variable {
 public:
  any_variable() = default;
  any_variable(graph& g, node_id variable, node_id assign, node_id read)
      : graph_(g), variable_(variable), assign_(assign), read_(read) {}

  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  node_id id() const { return variable_; }
  output reference() const { return {variable_, 0}; }
  const std::string& name() const;
  const std::string& op() const;
  const device_spec& requested_device() const;
  const pinion::shape& shape() const;

  node_id read_id() const { return read_; }
  // An operation that gives the variable its initial value.
  operation initializer() const { return {*graph_, assign_}; }
  operator operation() const { return {*graph_, variable_}; }

  // The variable's value; see variable_handle.
  any_expr read(source_location where) const;

 private:
  graph_ref graph_;
  node_id variable_ = no_node, assign_ = no_node, read_ = no_node;
};

// A variable of element type T. A value; refers to a graph that must outlive it.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class variable_handle : public any_variable,
                                                                                public dsl::operators {
 public:
  using value_type = T;

  using any_variable::any_variable;
  explicit variable_handle(const any_variable& v) : any_variable(v) {}

  // The value of the variable. All consumers share one read. Inside control_dependencies a call makes a read of its
  // own, which sees the effects of those dependencies. In a body whose node has to wait for control dependencies, it
  // makes a read before that node.
  expr<T> read(source_location where = source_location::current()) const {
    return dsl::as_typed<expr<T>>(any_variable::read(where));
  }
  operator expr<T>() const { return read({}); }
};

// The variable of a VariableV2 node, whose assign and read the graph keeps with it. Throws not_found for a node that
// variable() did not make.
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

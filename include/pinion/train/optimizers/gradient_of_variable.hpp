// Gradients on their way from a loss to an optimizer, where a program may read or change them.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/graph/same_device.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A variable and the gradient of a loss by it, dense or sparse. A sparse gradient, such as that of a look-up in a
// table, is some rows and their indices. An empty gradient holds neither, and is passed over when gradients are
// applied. A value; it refers to the graph.
struct gradient_of_variable {
  // The gradient: an output that computes it, or its rows and their indices.
  gradient_value gradient;
  // The variable's node.
  node_id variable = no_node;
  // The graph of both; empty for one that was put together by hand, which is taken for one of the graph in which it is
  // used.
  graph_ref of = {};

  // True if it holds no gradient.
  bool empty() const { return !gradient.is_sparse() && gradient.dense.node == no_node; }
  // The output that computes the gradient, or the rows of a sparse one.
  output values() const { return gradient.is_sparse() ? gradient.rows : gradient.dense; }
  // Throws invalid_argument, with the variable's name, where it is a gradient of another graph than g.
  void expect_in(const graph& g) const;
  // This gradient with other values; a sparse one keeps the indices of its rows.
  gradient_of_variable with_values(output values) const;
};

// Changes the values of gradients of the default graph by change(expr<T>), T being float or double. The rows of a
// sparse gradient are given as they are; rows with the same index are not added up first. Each gradient is changed on
// the device that computes it; empty ones stay empty.
//
//   o.apply_gradients(tr::change_gradients(o.compute_gradients(loss), [](auto g) { return g * 2.0f; }));
template <class Change>
std::vector<gradient_of_variable> change_gradients(const std::vector<gradient_of_variable>& gradients, Change change) {
  graph& g = default_graph();
  std::vector<gradient_of_variable> changed;
  for (const gradient_of_variable& one : gradients) {
    changed.push_back(one);
    if (one.empty()) continue;
    one.expect_in(g);
    const output values = one.values();
    const same_device there(g, values.node);
    const auto as = [&]<class T>() { return one.with_values(expr<T>(change(expr<T>(g, values))).endpoint(g)); };
    changed.back() =
        g.type_of(values).dtype == dtype::float64 ? as.template operator()<double>() : as.template operator()<float>();
  }
  return changed;
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/gradient_of_variable.ipp>
#endif

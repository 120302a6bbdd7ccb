// Gradients on their way from a loss to an optimizer, where a program may change them.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/graph/beside.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A variable and the gradient of the loss by it: dense, or some rows. One that holds neither is none, and is passed
// over when gradients are applied.
struct gradient_of_variable {
  gradient_value gradient;
  node_id variable = no_node;

  bool empty() const { return !gradient.is_sparse() && gradient.dense.node == no_node; }
  // What is computed: the gradient, or its rows.
  output values() const { return gradient.is_sparse() ? gradient.rows : gradient.dense; }
  // The same of other values; where a sparse one has rows, these stay where they were.
  gradient_of_variable with_values(output values) const;
};

// Gradients of the default graph with their values changed by change(expr<T>), T being float or double: a sparse one's
// rows as they are, those of one index not yet added up. Each is changed on the device where it is computed.
//
//   o.apply_gradients(tr::change_gradients(o.compute_gradients(loss), [](auto g) { return g * 2.0f; }));
template <class Change>
std::vector<gradient_of_variable> change_gradients(const std::vector<gradient_of_variable>& gradients, Change change) {
  graph& g = default_graph();
  std::vector<gradient_of_variable> changed;
  for (const gradient_of_variable& one : gradients) {
    changed.push_back(one);
    if (one.empty()) continue;
    const output values = one.values();
    const beside there(g, values.node);
    const auto as = [&]<class T>() { return one.with_values(expr<T>(change(expr<T>(g, values))).endpoint()); };
    changed.back() =
        g.type_of(values).dtype == dtype::float64 ? as.template operator()<double>() : as.template operator()<float>();
  }
  return changed;
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/gradient_of_variable.ipp>
#endif

// Recurrent networks along a sequence.
//
//   auto [out, h, c] = pn::lstm(x, h0, c0, W, U, b);                       // x: [length, batch, in]
//   auto [back, h1] = pn::gru(x, h0, W, U, b, {.lengths = n, .reverse = true});
//
// float or double; others throw invalid_argument. Extents may be 0. CPUs only. Differentiable once, by all but lengths.
// pn::nn::lstm and its kin make the weights, too.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/recurrent/op.hpp>

namespace pinion { inline namespace v0 {

// Options of recurrent functions. `lengths`, int32 or int64 [batch], says how many steps each row has: its outputs
// behind are 0, and its last state is that of its last step. The step fails for a length outside [0, length]. `reverse`
// goes from the last step of each row to its first. The name is that of a name scope around the nodes.
struct recurrent_options {
  any_expr lengths = {};
  bool reverse = false;
  std::string_view name = {};
};

// The result of lstm: the outputs of all steps [length, batch, units], and the last states [batch, units].
template <element T>
struct lstm_result {
  expr<T> out, h, c;
};
// The result of gru and of simple_rnn.
template <element T>
struct rnn_result {
  expr<T> out, h;
};

namespace dsl {
// Makes the node of a cell from x [length, batch, gates units], the states and recurrent weights.
output make_cell(std::string_view op, const any_expr& x, const std::vector<any_expr>& states, const any_expr& u,
                 const recurrent_options& options, source_location where);

// The node of a cell whose x is multiplied by its weights first.
template <element T, class X, class W, class B>
output cell_node(std::string_view op, const X& x, const std::vector<any_expr>& states, const W& weights,
                 const any_expr& u, const B& bias, const recurrent_options& options, source_location where) {
  const called_from line(where);
  const name_scope scope{options.name.empty() ? std::string_view(op) : options.name};
  const expr<T> product = matmul(x, weights, {}, where);
  return make_cell(op, expr<T>(product + bias), states, u, options, where);
}
}  // namespace dsl

// A long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000) along the first
// axis of x [length, batch, in], from the states h0 and c0 [batch, units]. Weights are W [in, 4 units], the recurrent U
// [units, 4 units] and b [4 units]; their four parts are those of the gates i, f, g, o, in this order:
//
//   i, f, o = logistic of their parts of x W + h U + b;  g = tanh of its part;  c = f c + i g;  h = o tanh(c)
//
// The products of all steps with W are one product; the rest of the sequence is one node. Throws invalid_argument for
// shapes that do not fit. PyTorch: torch.nn.LSTM of one layer, with W and U transposed and one bias; Keras: LSTM.
template <dsl::graph_operand X, dsl::graph_operand H, dsl::graph_operand C, dsl::graph_operand W, dsl::graph_operand U,
          dsl::graph_operand B>
lstm_result<dsl::value_of<X>> lstm(X&& x, H&& h0, C&& c0, W&& weights, U&& recurrent, B&& bias,
                                   const recurrent_options& options = {},
                                   source_location where = source_location::current()) {
  using T = dsl::value_of<X>;
  const output made = dsl::cell_node<T>(op::lstm::name, x, {dsl::endpoint_of(h0, where), dsl::endpoint_of(c0, where)},
                                        weights, dsl::endpoint_of(recurrent, where), bias, options, where);
  graph& g = dsl::graph_of(x, h0);
  return {expr<T>(g, made), expr<T>(g, {made.node, 1}), expr<T>(g, {made.node, 2})};
}

// A gated recurrent unit (Cho et al. 2014) along the first axis of x [length, batch, in], from h0 [batch, units].
// Weights are W [in, 3 units], U [units, 3 units] and b [3 units], of the gates r, z, n:
//
//   r, z = logistic of their parts of x W + h U + b;  n = tanh(x W + b + r (h U)), of its parts;  h = n + z (h - n)
//
// The gate r is applied behind the product, as cuDNN, PyTorch and Keras do (reset_after), with one bias. Shapes and
// errors are those of lstm.
template <dsl::graph_operand X, dsl::graph_operand H, dsl::graph_operand W, dsl::graph_operand U, dsl::graph_operand B>
rnn_result<dsl::value_of<X>> gru(X&& x, H&& h0, W&& weights, U&& recurrent, B&& bias,
                                 const recurrent_options& options = {},
                                 source_location where = source_location::current()) {
  using T = dsl::value_of<X>;
  const output made = dsl::cell_node<T>(op::gru::name, x, {dsl::endpoint_of(h0, where)}, weights,
                                        dsl::endpoint_of(recurrent, where), bias, options, where);
  graph& g = dsl::graph_of(x, h0);
  return {expr<T>(g, made), expr<T>(g, {made.node, 1})};
}

// The plain recurrent cell (Elman 1990), h = tanh(x W + h U + b), along the first axis of x [length, batch, in], from
// h0 [batch, units]: W [in, units], U [units, units], b [units].
template <dsl::graph_operand X, dsl::graph_operand H, dsl::graph_operand W, dsl::graph_operand U, dsl::graph_operand B>
rnn_result<dsl::value_of<X>> simple_rnn(X&& x, H&& h0, W&& weights, U&& recurrent, B&& bias,
                                        const recurrent_options& options = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<X>;
  const output made = dsl::cell_node<T>(op::simple_rnn::name, x, {dsl::endpoint_of(h0, where)}, weights,
                                        dsl::endpoint_of(recurrent, where), bias, options, where);
  graph& g = dsl::graph_of(x, h0);
  return {expr<T>(g, made), expr<T>(g, {made.node, 1})};
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/recurrent/functions.ipp>
#endif

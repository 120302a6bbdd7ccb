// Recurrent layers: lstm, gru and simple_rnn with the variables that they make in the default graph.
//
//   auto [out, h, c] = pn::nn::lstm(x, 128);                    // x: [length, batch, in]; lstm/kernel, ...
//   auto both = pn::concat({pn::nn::gru(x, 64).out, pn::nn::gru(x, 64, {.reverse = true}).out}, 2);
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/op/recurrent/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of recurrent layers. Lengths and `reverse` are those of pn::recurrent_options. States begin as 0. The seed is
// that of the kernels; 0 draws others in each session. Without a name, a layer is named after its function.
struct recurrent_layer_options {
  any_expr lengths = {};
  bool reverse = false;
  std::int64_t seed = 0;
  std::string_view name = {};
};

namespace detail {

// Throws invalid_argument unless x is [length, batch, in] of a known last extent, and units are positive.
void expect_steps(std::string_view layer, const shape& extent, std::int64_t units, const any_expr& x);

// The state [batch, units] of zeros before the first step of x.
any_expr first_state(const any_expr& x, std::int64_t units, source_location where);

// The variables of a cell: weights of x and of the state, and the bias, whose part of the forget gate begins as 1.
template <class T>
struct cell_variables {
  expr<T> kernel, recurrent, bias;

  cell_variables(std::int64_t inputs, std::int64_t units, std::int64_t gates, bool forgets, std::int64_t seed,
                 source_location where) {
    const auto drawn = [&](const char* name, std::int64_t rows, std::int64_t other) -> expr<T> {
      const auto first = glorot_uniform_initializer(seed == 0 ? 0 : seed + other);
      return variable(first.of<T>({rows, gates * units}, where), {.name = name}, where);
    };
    kernel = drawn("kernel", inputs, 0), recurrent = drawn("recurrent_kernel", units, 1);
    const auto part = [&](std::int64_t n, T value) { return expr<T>(fill<T>({n * units}, value, {}, where)); };
    const expr<T> first =
        forgets ? expr<T>(concat({part(1, 0), part(1, 1), part(2, 0)}, 0, {}, where)) : part(gates, 0);
    bias = variable(first, {.name = "bias"}, where);
  }
};

// Makes a layer of gates that `cell(state, variables, options)` computes.
template <class T, class Cell>
auto recurrent_layer(std::string_view layer, const expr<T>& x, std::int64_t units, std::int64_t gates,
                     const recurrent_layer_options& o, source_location where, const Cell& cell) {
  const shape extent = x.shape();
  expect_steps(layer, extent, units, x);
  const called_from line(where);
  const name_scope scope{o.name.empty() ? layer : o.name};
  const cell_variables<T> weights(extent[2], units, gates, gates == 4, o.seed, where);
  const expr<T> state = dsl::as_typed<expr<T>>(first_state(x, units, where));
  return cell(state, weights, recurrent_options{o.lengths, o.reverse, "cell"});
}

}  // namespace detail

// pn::lstm with the variables NAME/kernel [in, 4 units], NAME/recurrent_kernel [units, 4 units] and NAME/bias [4
// units]. The kernels begin uniform, by Glorot's rule, and the bias as 0, but as 1 for the forget gate (Gers et al.
// 2000). Returns the outputs of all steps [length, batch, units] and the last states. Throws invalid_argument unless x
// is [length, batch, in] of a known last extent, and units are positive. float, double. Keras: LSTM.
template <dsl::graph_operand A>
lstm_result<dsl::value_of<A>> lstm(A&& x, std::int64_t units, const recurrent_layer_options& o = {},
                                   source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> steps = std::forward<A>(x);
  return detail::recurrent_layer<T>("lstm", steps, units, 4, o, where,
                                    [&](const auto& h, const auto& w, const auto& r) {
                                      return pinion::lstm(steps, h, h, w.kernel, w.recurrent, w.bias, r, where);
                                    });
}

// pn::gru with variables like those of lstm, of three gates; the bias begins as 0. Keras: GRU.
template <dsl::graph_operand A>
rnn_result<dsl::value_of<A>> gru(A&& x, std::int64_t units, const recurrent_layer_options& o = {},
                                 source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> steps = std::forward<A>(x);
  return detail::recurrent_layer<T>("gru", steps, units, 3, o, where, [&](const auto& h, const auto& w, const auto& r) {
    return pinion::gru(steps, h, w.kernel, w.recurrent, w.bias, r, where);
  });
}

// pn::simple_rnn with variables like those of lstm, of one gate; the bias begins as 0. Keras: SimpleRNN.
template <dsl::graph_operand A>
rnn_result<dsl::value_of<A>> simple_rnn(A&& x, std::int64_t units, const recurrent_layer_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> steps = std::forward<A>(x);
  return detail::recurrent_layer<T>("simple_rnn", steps, units, 1, o, where,
                                    [&](const auto& h, const auto& w, const auto& r) {
                                      return pinion::simple_rnn(steps, h, w.kernel, w.recurrent, w.bias, r, where);
                                    });
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/recurrent.ipp>
#endif

// The optimizers' formulas over one element, in plain double, and what is trained by both to compare.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <pinion/train.hpp>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace pinion_tests {

using namespace pinion;
namespace tr = pinion::train;

// A weight and its slots.
struct element {
  double w = 0, a = 0, b = 0, c = 0;
};
// One step t = 1, 2, ... of an element whose gradient is g.
using plain_rule = std::function<void(element&, double g, double rate, int t)>;

// Loshchilov and Hutter 2019, algorithm 2, with the rate in place of both of its factors.
inline void adam_step(element& e, double g, double rate, int t, double beta1, double beta2, double decay) {
  e.a = beta1 * e.a + (1 - beta1) * g;
  e.b = beta2 * e.b + (1 - beta2) * g * g;
  const double corrected = rate * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
  e.w = e.w - rate * decay * e.w - corrected * e.a / (std::sqrt(e.b) + 1e-8);
}
// Chen et al. 2023, algorithm 2.
inline void lion_step(element& e, double g, double rate, double beta1, double beta2, double decay) {
  const double c = beta1 * e.a + (1 - beta1) * g;
  e.w -= rate * ((c > 0) - (c < 0) + decay * e.w);
  e.a = beta2 * e.a + (1 - beta2) * g;
}

struct subject {
  std::string name;
  std::function<operation(const any_expr& loss, const tr::scalar_value& rate,
                          const variable_handle<std::int64_t>& step)>
      minimize;
  plain_rule rule;
  element first = {};     // slots as they begin
  bool all_rows = false;  // does a sparse gradient move rows that it does not name?
};

template <class Optimizer>
auto minimizer(typename Optimizer::options o) {
  return [o](const any_expr& loss, const tr::scalar_value& rate, const variable_handle<std::int64_t>& step) {
    auto with = o;
    with.learning_rate = rate;
    const Optimizer optimizer{with};
    if (loss.dtype() == dtype::float64)
      return optimizer.minimize(expr<double>(loss.owner(), end_of(loss)), {.global_step = step});
    return optimizer.minimize(expr<float>(loss.owner(), end_of(loss)), {.global_step = step});
  };
}

inline const std::vector<subject>& subjects() {
  static const std::vector<subject> all{
      {"gradient_descent", minimizer<tr::gradient_descent>({}),
       [](element& e, double g, double rate, int) { e.w -= rate * g; }},
      {"momentum", minimizer<tr::momentum>({.momentum = .9}),
       [](element& e, double g, double rate, int) {
         e.a = .9 * e.a + g;
         e.w -= rate * e.a;
       }},
      {"nesterov", minimizer<tr::momentum>({.momentum = .8, .use_nesterov = true}),
       [](element& e, double g, double rate, int) {
         e.a = .8 * e.a + g;
         e.w -= rate * g + rate * .8 * e.a;
       }},
      {"adagrad",
       minimizer<tr::adagrad>({}),
       [](element& e, double g, double rate, int) {
         e.a += g * g;
         e.w -= rate * g / std::sqrt(e.a);
       },
       {.a = .1}},
      {"adagrad from 2",
       minimizer<tr::adagrad>({.initial_accumulator_value = 2}),
       [](element& e, double g, double rate, int) {
         e.a += g * g;
         e.w -= rate * g / std::sqrt(e.a);
       },
       {.a = 2}},
      {"rmsprop",
       minimizer<tr::rmsprop>({}),
       [](element& e, double g, double rate, int) {
         e.a = .9 * e.a + (1 - .9) * g * g;
         e.w -= rate * g / std::sqrt(e.a + 1e-10);
       },
       {.a = 1}},
      {"rmsprop with momentum",
       minimizer<tr::rmsprop>({.decay = .8, .momentum = .5, .epsilon = .01}),
       [](element& e, double g, double rate, int) {
         e.a = .8 * e.a + (1 - .8) * g * g;
         e.b = .5 * e.b + rate * g / std::sqrt(e.a + .01);
         e.w -= e.b;
       },
       {.a = 1}},
      {"centered rmsprop",
       minimizer<tr::rmsprop>({.decay = .8, .momentum = .5, .epsilon = .01, .centered = true}),
       [](element& e, double g, double rate, int) {
         e.a = .8 * e.a + (1 - .8) * g * g;
         e.c = .8 * e.c + (1 - .8) * g;
         e.b = .5 * e.b + rate * g / std::sqrt(e.a - e.c * e.c + .01);
         e.w -= e.b;
       },
       {.a = 1}},
      {"adam",
       minimizer<tr::adam>({}),
       [](element& e, double g, double rate, int t) {
         e.a = .9 * e.a + (1 - .9) * g;
         e.b = .999 * e.b + (1 - .999) * g * g;
         e.w -= rate * std::sqrt(1 - std::pow(.999, t)) / (1 - std::pow(.9, t)) * e.a / (std::sqrt(e.b) + 1e-8);
       },
       {},
       true},
      {"lazy adam", minimizer<tr::adam>({.beta1 = .8, .beta2 = .99, .epsilon = 1e-3, .lazy = true}),
       [](element& e, double g, double rate, int t) {
         e.a = .8 * e.a + (1 - .8) * g;
         e.b = .99 * e.b + (1 - .99) * g * g;
         e.w -= rate * std::sqrt(1 - std::pow(.99, t)) / (1 - std::pow(.8, t)) * e.a / (std::sqrt(e.b) + 1e-3);
       }},
      {"adamw",
       minimizer<tr::adamw>({.weight_decay = .05}),
       [](element& e, double g, double rate, int t) { adam_step(e, g, rate, t, .9, .999, .05); },
       {},
       true},
      {"lazy adamw", minimizer<tr::adamw>({.beta1 = .8, .beta2 = .99, .weight_decay = .1, .lazy = true}),
       [](element& e, double g, double rate, int t) { adam_step(e, g, rate, t, .8, .99, .1); }},
      {"adamw without decay",
       minimizer<tr::adamw>({.weight_decay = .5, .decays = [](std::string_view name) { return name != "table"; }}),
       [](element& e, double g, double rate, int t) { adam_step(e, g, rate, t, .9, .999, 0); },
       {},
       true},
      {"lion", minimizer<tr::lion>({}),
       [](element& e, double g, double rate, int) { lion_step(e, g, rate, .9, .99, 0); }},
      {"lion with decay", minimizer<tr::lion>({.beta1 = .8, .beta2 = .9, .weight_decay = .25}),
       [](element& e, double g, double rate, int) { lion_step(e, g, rate, .8, .9, .25); }},
  };
  return all;
}

// A table of 4 rows of 3, of which each step looks some up, one of them twice, or uses all.
inline constexpr int rows = 4, columns = 3;
inline const std::vector<std::vector<int>>& look_ups() {
  static const std::vector<std::vector<int>> all{{0, 2, 2}, {1}, {3, 0}, {2, 1, 0}};
  return all;
}
inline double start(int row, int column) {
  return 2 + .5 * row - 1.25 * column;
}
inline constexpr double target = 30;

enum class gradient_is { dense, sparse };

template <class T>
struct table_model : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<T> table = [] {
    tensor<T> t({rows, columns});
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) t(r, c) = static_cast<T>(start(r, c));
    return variable(t, {.name = "table"});
  }();
  expr<int> named = placeholder<int>({unknown}, "named");
  expr<T> loss;

  explicit table_model(gradient_is kind) {
    const expr<T> whole = table;
    const expr<T> used = kind == gradient_is::sparse ? expr<T>(gather(table, named)) : expr<T>(whole * T(1));
    loss = reduce_sum(square(used - static_cast<T>(target)));
  }
};

template <class T>
tensor<T> trained(const subject& s, gradient_is kind, int steps,
                  const std::function<tr::scalar_value(const variable_handle<std::int64_t>&)>& rate,
                  const session_options& options = {}) {
  table_model<T> m(kind);
  const auto train = s.minimize(m.loss, rate(m.step), m.step);
  session sess{options};
  sess.run(global_variables_initializer());
  for (int t = 0; t < steps; ++t) {
    const auto& named = look_ups()[static_cast<std::size_t>(t) % look_ups().size()];
    tensor<int> fed({static_cast<std::int64_t>(named.size())});
    std::copy(named.begin(), named.end(), fed.span().begin());
    sess.run({{m.named, fed}}, train);
  }
  return sess.run(m.table);
}

// The same by hand; rate(t) is that of step t = 0, 1, ....
inline std::vector<double> by_hand(const subject& s, gradient_is kind, int steps,
                                   const std::function<double(int)>& rate) {
  std::vector<double> result;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      element e = s.first;
      e.w = start(r, c);
      for (int t = 0; t < steps; ++t) {
        const auto& named = look_ups()[static_cast<std::size_t>(t) % look_ups().size()];
        const auto times = kind == gradient_is::dense ? 1 : std::count(named.begin(), named.end(), r);
        if (times > 0 || s.all_rows) s.rule(e, static_cast<double>(times) * 2 * (e.w - target), rate(t), t + 1);
      }
      result.push_back(e.w);
    }
  return result;
}

template <class T>
double farthest(const tensor<T>& got, const std::vector<double>& wanted) {
  double most = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::abs(static_cast<double>(got.span()[i]) - wanted[i]);
    if (!(off <= most)) most = off;  // NaN is farthest
  }
  return most;
}

}  // namespace pinion_tests

// Recurrent cells, and their gradients.
#pragma once

#include "laws/row.hpp"

namespace laws {

// What a cell is made of: gates, states, and the parts that it keeps of each step.
struct cell_of {
  std::size_t gates, states, kept;
  explicit cell_of(std::string_view op)
      : gates(op.starts_with("Lstm")  ? 4
              : op.starts_with("Gru") ? 3
                                      : 1),
        states(op.starts_with("Lstm") ? 2 : 1),
        kept(op.starts_with("Lstm")  ? 5
             : op.starts_with("Gru") ? 4
                                     : 1) {}
};

// The places of a sequence, and the order in which a row goes through them.
struct sequence_of {
  std::size_t length, batch, u;
  bool reverse;
  std::vector<double> lengths;

  sequence_of(const call& c, const shape& steps, std::size_t units, const tensors& x, std::size_t lengths_at)
      : length(static_cast<std::size_t>(steps[0])),
        batch(static_cast<std::size_t>(steps[1])),
        u(units),
        reverse(c.attrs.get_or("reverse", false)),
        lengths(x.size() > lengths_at ? x[lengths_at] : std::vector<double>(batch, static_cast<double>(length))) {}

  std::vector<std::size_t> steps_of(std::size_t row) const {
    std::vector<std::size_t> all;
    for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[row]); ++t) all.push_back(t);
    if (reverse) std::reverse(all.begin(), all.end());
    return all;
  }
};

inline double logistic_of(double x) {
  return 1 / (1 + std::exp(-x));
}

// Inputs: x, states, U, lengths. Numbers of a sequence grow at most as the weights make them, which are below 1.
inline std::optional<expectation> cell_reference(const call& c, const tensors& in) {
  const cell_of cell(c.op);
  const std::size_t u = static_cast<std::size_t>(c.inputs[cell.states + 1].shape()[0]);
  const sequence_of of(c, c.inputs[0].shape(), u, in, cell.states + 2);
  const auto &x = in[0], &weights = in[cell.states + 1];
  std::vector<double> y(of.length * of.batch * u), kept(of.length * of.batch * cell.kept * u),
      h = in[1], s = cell.states == 2 ? in[2] : std::vector<double>{};
  for (std::size_t row = 0; row < of.batch; ++row)
    for (const std::size_t t : of.steps_of(row)) {
      const std::size_t at = t * of.batch + row;
      std::vector<double> product(cell.gates * u);
      for (std::size_t j = 0; j < product.size(); ++j)
        for (std::size_t i = 0; i < u; ++i) product[j] += h[row * u + i] * weights[i * product.size() + j];
      for (std::size_t i = 0; i < u; ++i) {
        const auto part = [&](std::size_t gate) { return x[at * cell.gates * u + gate * u + i]; };
        const auto sum = [&](std::size_t gate) { return part(gate) + product[gate * u + i]; };
        const auto keep = [&](std::vector<double> values) {
          for (std::size_t k = 0; k < values.size(); ++k) kept[(at * cell.kept + k) * u + i] = values[k];
        };
        double& state = h[row * u + i];
        if (cell.gates == 4) {
          const double a = logistic_of(sum(0)), f = logistic_of(sum(1)), g = std::tanh(sum(2)), o = logistic_of(sum(3));
          double& inner = s[row * u + i];
          inner = f * inner + a * g, state = o * std::tanh(inner);
          keep({a, f, g, o, inner});
        } else if (cell.gates == 3) {
          const double r = logistic_of(sum(0)), z = logistic_of(sum(1)),
                       n = std::tanh(part(2) + r * product[2 * u + i]);
          state = n + z * (state - n);
          keep({r, z, n, product[2 * u + i]});
        } else {
          state = std::tanh(sum(0));
          keep({state});
        }
        y[at * u + i] = state;
      }
    }
  const dtype type = c.inputs[0].dtype();
  const bool known = are_tame(in);
  const double size = 64 * static_cast<double>((of.length + 2) * (u + 2));
  expectation all{{near(y, type, size, known), near(h, type, size, known)}};
  if (cell.states == 2) all.outputs.push_back(near(s, type, size, known));
  all.outputs.push_back(near(kept, type, size, known));
  return all;
}

// Inputs: U, states, y, kept, dy, gradients of states, lengths.
inline std::optional<expectation> cell_gradient_reference(const call& c, const tensors& in) {
  const cell_of cell(c.op);
  const std::size_t u = static_cast<std::size_t>(c.inputs[0].shape()[0]), first = cell.states + 1;
  const sequence_of of(c, c.inputs[first].shape(), u, in, first + 3 + cell.states);
  const auto &weights = in[0], &y = in[first], &kept = in[first + 1], &dy = in[first + 2];
  const std::size_t wide = cell.gates * u;
  std::vector<double> dx(of.length * of.batch * wide), dweights(weights.size()),
      dh = in[first + 3], ds = cell.states == 2 ? in[first + 4] : std::vector<double>{};
  double most = 1;
  for (std::size_t row = 0; row < of.batch; ++row) {
    const auto steps = of.steps_of(row);
    for (std::size_t k = steps.size(); k-- > 0;) {
      const std::size_t at = steps[k] * of.batch + row, earlier = k > 0 ? steps[k - 1] * of.batch + row : 0;
      std::vector<double> dproduct(wide);
      for (std::size_t i = 0; i < u; ++i) {
        const auto part = [&](std::size_t p) { return kept[(at * cell.kept + p) * u + i]; };
        const double before = k > 0 ? y[earlier * u + i] : in[1][row * u + i];
        double& slope = dh[row * u + i];
        slope += dy[at * u + i];
        const auto set = [&](std::size_t gate, double value) {
          dx[at * wide + gate * u + i] = dproduct[gate * u + i] = value;
        };
        if (cell.gates == 4) {
          const double a = part(0), f = part(1), g = part(2), o = part(3), squashed = std::tanh(part(4));
          const double inner = k > 0 ? kept[(earlier * 5 + 4) * u + i] : in[2][row * u + i];
          const double d = ds[row * u + i] + slope * o * (1 - squashed * squashed);
          set(0, d * g * a * (1 - a)), set(1, d * inner * f * (1 - f)), set(2, d * a * (1 - g * g));
          set(3, slope * squashed * o * (1 - o));
          ds[row * u + i] = d * f, slope = 0;
        } else if (cell.gates == 3) {
          const double r = part(0), z = part(1), n = part(2), product = part(3);
          const double dn = slope * (1 - z) * (1 - n * n);
          set(0, dn * product * r * (1 - r)), set(1, slope * (before - n) * z * (1 - z)), set(2, dn);
          dproduct[2 * u + i] = dn * r, slope *= z;
        } else {
          set(0, slope * (1 - part(0) * part(0))), slope = 0;
        }
      }
      for (std::size_t i = 0; i < u; ++i)
        for (std::size_t j = 0; j < wide; ++j) {
          const double before = k > 0 ? y[earlier * u + i] : in[1][row * u + i];
          dh[row * u + i] += dproduct[j] * weights[i * wide + j];
          dweights[i * wide + j] += before * dproduct[j];
          most =
              std::max({most, std::abs(dproduct[j]) * 4, std::abs(dh[row * u + i]), std::abs(dweights[i * wide + j])});
        }
      if (cell.states == 2)
        for (std::size_t i = 0; i < u; ++i) most = std::max(most, std::abs(ds[row * u + i]));
    }
  }
  const dtype type = c.inputs[0].dtype();
  const bool known = are_tame(in) && most < 1e6;
  const double size = 64 * most * static_cast<double>((of.length + 2) * (of.batch + 2) * (u + 2));
  expectation all{{near(dx, type, size, known), near(dh, type, size, known)}};
  if (cell.states == 2) all.outputs.push_back(near(ds, type, size, known));
  all.outputs.push_back(near(dweights, type, size, known));
  return all;
}

inline std::vector<sample> cell_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const cell_of cell(op);
  const bool backward = op.ends_with("Grad");
  const auto gates = static_cast<std::int64_t>(cell.gates), kept = static_cast<std::int64_t>(cell.kept);
  const auto add = [&](std::string note, std::int64_t length, std::int64_t batch, std::int64_t u, bool reverse,
                       bool has_lengths) {
    const input state{{batch, u}}, weights{{u, gates * u}, role::number, -.7, .7};
    std::vector<input> inputs;
    if (!backward) inputs.push_back({{length, batch, gates * u}});
    if (backward) inputs.push_back(weights);
    for (std::size_t i = 0; i < cell.states; ++i) inputs.push_back(state);
    if (!backward) inputs.push_back(weights);
    if (backward) {
      inputs.push_back({{length, batch, u}}), inputs.push_back({{length, batch, kept * u}, role::number, -1, 1});
      inputs.push_back({{length, batch, u}});
      for (std::size_t i = 0; i < cell.states; ++i) inputs.push_back(state);
    }
    if (has_lengths)
      inputs.push_back({{batch}, reverse ? role::index64 : role::index32, 0, static_cast<double>(length + 1)});
    all.push_back({std::move(note), std::move(inputs), plain({{"reverse", reverse}})});
    all.back().smooth = !backward;
  };
  const std::int64_t few = std::min<std::int64_t>(m, 4);
  add("some steps", 4, few, 3, false, false);
  add("from behind", 3, few, 3, true, false);
  add("of several lengths", 4, few + 1, 2, false, true);
  add("of several lengths from behind", 4, few + 1, 2, true, true);
  add("many units", 2, 3, std::min<std::int64_t>(n + 13, 40), false, false);
  add("one step", 1, 2, 2, false, false);
  add("no steps", 0, 2, 2, false, false);
  add("no rows", 3, 0, 2, true, true);
  add("no units", 2, 2, 0, false, false);
  return all;
}

inline row cell_row() {
  const any_tensor state = f({2, 3});
  return {{"Lstm", "Gru", "SimpleRnn"},
          cell_samples,
          cell_reference,
          {{"Lstm", {f({4, 2, 12}), state, state, f({3, 9})}, {}, "multiple of 4"},
           {"Lstm", {f({4, 2, 12}), state, f({3, 3}), f({3, 12})}, {}, "input 2 of shape [3, 3] has 3"},
           {"Lstm", {f({2, 12}), state, state, f({3, 12})}, {}, "[length, batch, 4 units] is expected"},
           {"Gru", {f({4, 2, 9}), state, f({3, 6})}, {}, "input 2 of shape [3, 6]"},
           {"Gru", {f({4, 2, 9}), state, f({3, 9}), f({2})}, {}, "lengths of float"},
           {"Gru", {f({4, 2, 9}), state, f({3, 9}), i({3})}, {}, "input 3 of shape [3]"},
           {"SimpleRnn", {i({4, 2, 3}), i({2, 3}), i({3, 3})}, {}, "is not defined"},
           {"SimpleRnn", {f({4, 2, 3}), f({2, 4}), f({3, 3})}, {}, "input 1 of shape [2, 4]"}}};
}

inline row cell_gradient_row() {
  const any_tensor state = f({2, 3}), steps = f({4, 2, 3});
  return {{"LstmGrad", "GruGrad", "SimpleRnnGrad"},
          cell_samples,
          cell_gradient_reference,
          {{"LstmGrad", {f({3, 12}), state, state, steps, f({4, 2, 12}), steps, state, state}, {}, "multiple of 5"},
           {"GruGrad", {f({3, 9}), state, steps, f({4, 2, 12}), f({5, 2, 3}), state}, {}, "input 4 of shape [5, 2, 3]"},
           {"SimpleRnnGrad", {f({3, 3}), state, steps, steps, steps, i({2, 3})}, {}, "int32"}}};
}

inline std::vector<row> recurrent_rows() {
  return {cell_row(), cell_gradient_row()};
}

}  // namespace laws

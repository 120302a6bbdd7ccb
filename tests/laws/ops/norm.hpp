// Norms of rows, and their gradients.
#pragma once

#include "laws/row.hpp"

namespace laws {

// x of a norm as rows: the axes that gamma has are a row.
struct rows_view {
  std::size_t rows = 1, n = 1;
  rows_view(const shape& x, const shape& gamma) {
    for (int axis = 0; axis < x.rank(); ++axis)
      (axis < x.rank() - gamma.rank() ? rows : n) *= static_cast<std::size_t>(x[axis]);
  }
};

// A number that comes of so many terms of that size. Nothing is known where their squares may overflow.
inline ranged of_terms(dtype type, double value, double size, std::size_t terms) {
  if (std::isfinite(size) && size * size > largest(type)) return {value, std::numeric_limits<double>::infinity()};
  return rounded(type, value, size, static_cast<double>(terms) + 16);
}

inline double greatest_finite(const std::vector<double>& x, std::size_t first, std::size_t n) {
  double most = 0;
  for (std::size_t i = first; i < first + n; ++i)
    if (std::isfinite(x[i])) most = std::max(most, std::abs(x[i]));
  return most;
}

inline std::optional<expectation> norm_reference(const call& c, const tensors& in) {
  const dtype type = c.inputs[0].dtype();
  const bool centered = c.op == "LayerNorm";
  const rows_view m(c.inputs[0].shape(), c.inputs[1].shape());
  const double count = static_cast<double>(m.n), epsilon = c.attrs.get<double>("epsilon");
  const auto &x = in[0], &gamma = in[1];
  std::vector<ranged> y, means, inverses;
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::size_t at = r * m.n;
    const double most = greatest_finite(x, at, m.n);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < m.n; ++i) sum += x[at + i];
    const double mean = centered ? sum / count : 0;
    for (std::size_t i = 0; i < m.n; ++i) squares += (x[at + i] - mean) * (x[at + i] - mean);
    const double inverse = 1 / std::sqrt(squares / count + epsilon);
    const double steep = 1 + std::pow(most * inverse, 2);  // how much an error of the variance matters
    if (centered) means.push_back(of_terms(type, mean, most, m.n));
    inverses.push_back(of_terms(type, inverse, std::max(most, inverse * steep), m.n));
    for (std::size_t i = 0; i < m.n; ++i) {
      const double beta = centered ? in[2][i] : 0;
      const double size = std::abs(gamma[i]) * most * inverse * steep + std::abs(beta);
      y.push_back(of_terms(type, (x[at + i] - mean) * inverse * gamma[i] + beta,
                           std::max({most, std::abs(gamma[i]), size}), m.n));
    }
  }
  return centered ? expectation{{y, means, inverses}} : expectation{{y, inverses}};
}

// The inputs are dy, x, gamma, the mean unless there is none, and the inverse.
inline std::optional<expectation> norm_gradient_reference(const call& c, const tensors& in) {
  const dtype type = c.inputs[0].dtype();
  const bool centered = c.op == "LayerNormGrad";
  const rows_view m(c.inputs[1].shape(), c.inputs[2].shape());
  const double count = static_cast<double>(m.n);
  const auto &dy = in[0], &x = in[1], &gamma = in[2], &inverses = in.back();
  std::vector<ranged> dx;
  std::vector<double> dgamma(m.n), dbeta(m.n), size_gamma(m.n), size_beta(m.n);
  const double unknown_slack = are_tame(in) ? 0 : std::numeric_limits<double>::infinity();
  double all = 0;  // the greatest number on the way
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::size_t at = r * m.n;
    const double mean = centered ? in[3][r] : 0, inverse = inverses[r];
    double slopes = 0, along = 0, size = 0;
    for (std::size_t i = 0; i < m.n; ++i) {
      const double slope = dy[at + i] * gamma[i], unit = (x[at + i] - mean) * inverse;
      slopes += slope, along += slope * unit;
      const double far = (std::abs(x[at + i]) + std::abs(mean)) * std::abs(inverse);
      size = std::max({size, std::abs(slope) * (1 + far), far, std::abs(x[at + i]), std::abs(dy[at + i])});
      dgamma[i] += dy[at + i] * unit, dbeta[i] += dy[at + i];
      size_gamma[i] += std::abs(dy[at + i]) * far, size_beta[i] += std::abs(dy[at + i]);
    }
    for (std::size_t i = 0; i < m.n; ++i) {
      const double unit = (x[at + i] - mean) * inverse, slope = dy[at + i] * gamma[i];
      const double value = (slope - (centered ? slopes / count : 0) - unit * along / count) * inverse;
      const double whole = (size + size * size) * (1 + std::abs(inverse));
      dx.push_back(of_terms(type, value, whole, m.n));
      dx.back().slack += unknown_slack;
    }
    all = std::max(all, size);
  }
  std::vector<ranged> of_gamma, of_beta;
  for (std::size_t i = 0; i < m.n; ++i) {
    of_gamma.push_back(of_terms(type, dgamma[i], std::max(size_gamma[i], all), m.rows));
    of_beta.push_back(of_terms(type, dbeta[i], size_beta[i], m.rows));
    of_gamma.back().slack += unknown_slack, of_beta.back().slack += unknown_slack;
  }
  return centered ? expectation{{dx, of_gamma, of_beta}} : expectation{{dx, of_gamma}};
}

inline std::vector<sample> norm_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const bool centered = op == "LayerNorm" || op == "LayerNormGrad", backward = op.ends_with("Grad");
  const auto add = [&](std::string note, const shape& x, const shape& gamma, const shape& rows) {
    std::vector<input> inputs{{x}, {gamma}};
    if (backward)
      inputs = {{x}, {x}, {gamma}, {rows}};
    else if (centered)
      inputs.push_back({gamma});
    if (backward && centered) inputs.push_back({rows});
    all.push_back({std::move(note), std::move(inputs), plain(backward ? attributes{} : attributes{{"epsilon", 1e-3}})});
  };
  add("rows", {m, n}, {n}, {m, 1});
  add("long rows", {2, m, 3 * n}, {3 * n}, {2, m, 1});
  add("rows of two axes", {m, 2, n}, {2, n}, {m, 1, 1});
  add("one row", {n}, {n}, {1});
  add("rows of one", {m, 1}, {1}, {m, 1});
  add("no rows", {0, n}, {n}, {0, 1});
  add("empty rows", {m, 0}, {0}, {m, 1});
  return all;
}

inline row norm_row() {
  const attributes epsilon{{"epsilon", 1e-3}};
  return {{"LayerNorm", "RmsNorm"},
          norm_samples,
          norm_reference,
          {{"LayerNorm", {f({2, 3}), f({2}), f({2})}, epsilon, "gamma of shape [2] for x of shape [2, 3]"},
           {"LayerNorm", {f({3}), f({2, 3}), f({2, 3})}, epsilon, "gamma of shape [2, 3]"},
           {"LayerNorm", {f({2, 3}), f({3}), f({2})}, epsilon, "beta of shape [2]"},
           {"LayerNorm", {i({3}), i({3}), i({3})}, epsilon, "is not defined"},
           {"LayerNorm", {f({3}), i({3}), f({3})}, epsilon, "int32"},
           {"RmsNorm", {f({2, 3}), f({})}, epsilon, "gamma of shape []"},
           {"RmsNorm", {b({3}), b({3})}, epsilon, "RmsNorm of bool"}}};
}

inline row norm_gradient_row() {
  return {{"LayerNormGrad", "RmsNormGrad"},
          norm_samples,
          norm_gradient_reference,
          {{"LayerNormGrad", {f({2, 3}), f({2, 4}), f({4}), f({2, 1}), f({2, 1})}, {}, "dy of shape [2, 3]"},
           {"LayerNormGrad", {f({2, 3}), f({2, 3}), f({3}), f({2, 1}), f({3, 1})}, {}, "statistics of shape [3, 1]"},
           {"LayerNormGrad", {i({3}), i({3}), i({3}), i({1}), i({1})}, {}, "is not defined"},
           {"RmsNormGrad", {f({2, 3}), f({2, 3}), f({2}), f({2, 1})}, {}, "gamma of shape [2]"},
           {"RmsNormGrad", {f({2, 3}), f({2, 3}), f({3}), i({2, 1})}, {}, "int32"}}};
}

inline std::vector<row> norm_rows() {
  return {norm_row(), norm_gradient_row()};
}

}  // namespace laws

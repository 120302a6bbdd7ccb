// Softmax, cross entropies, top k.
#pragma once

#include "laws/row.hpp"

namespace laws {

// Rows of the last axis: the largest logit, the sum of e^(x - largest).
inline void softmax_row(const double* x, std::size_t n, double& largest_logit, double& sum) {
  largest_logit = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < n; ++j) largest_logit = std::isnan(x[j]) ? NAN : std::max(largest_logit, x[j]);
  for (std::size_t j = 0; j < n; ++j) sum += std::exp(x[j] - largest_logit);
}

// The loss of each row, then its gradient by the logits.
inline std::optional<expectation> cross_entropy_reference(const call& c, const tensors& x) {
  const bool sparse = c.op[0] == 'S' && c.op[1] == 'p';
  const auto rows = static_cast<std::size_t>(c.inputs[1].shape()[0]),
             n = static_cast<std::size_t>(c.inputs[1].shape()[1]);
  const dtype type = c.inputs[1].dtype();
  std::vector<ranged> loss, back;
  for (std::size_t r = 0; r < rows; ++r) {
    double top, sum, total = 0, scale = 0;
    softmax_row(&x[1][r * n], n, top, sum);
    for (std::size_t j = 0; j < n; ++j) {
      const double label = sparse ? (x[0][r] == static_cast<double>(j)) : x[0][r * n + j];
      const double log_p = x[1][r * n + j] - top - std::log(sum), p = std::exp(x[1][r * n + j] - top) / sum;
      if (label != 0) total -= label * log_p, scale += std::abs(label) * std::max(1.0, std::abs(log_p));
      back.push_back(rounded(type, p - label, std::max(p, std::abs(label)), 16 + static_cast<double>(n)));
    }
    loss.push_back(rounded(type, total, scale, 16 + 2 * static_cast<double>(n)));
  }
  return expectation{{loss, back}};
}

inline std::vector<row> nn_rows() {
  using enum role;
  return {
      {{"Softmax", "LogSoftmax"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {matrix}}, {"vector", {{{n}}}}, {"rank 3", {{{2, m, 3}}}}, {"nothing", {{{0, 3}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const std::string& op = c.op;
         const shape& s = c.inputs[0].shape();
         const auto n = static_cast<std::size_t>(s[s.rank() - 1]);
         const dtype type = c.inputs[0].dtype();
         std::vector<ranged> y;
         for (std::size_t r = 0; n && r < x[0].size() / n; ++r) {
           double top, sum;
           softmax_row(&x[0][r * n], n, top, sum);
           for (std::size_t j = 0; j < n; ++j) {
             const double d = x[0][r * n + j] - top, v = op == "Softmax" ? std::exp(d) / sum : d - std::log(sum);
             y.push_back(
                 rounded(type, v, op == "Softmax" ? v : std::max(1.0, std::abs(v)), 16 + static_cast<double>(n)));
           }
         }
         return expectation{{y}};
       },
       {{"Softmax", {i({2, 3})}, {}, "float or double"},
        {"Softmax", {f({})}, {}, "a scalar has none"},
        {"LogSoftmax", {i({2})}, {}, "float or double"}}},
      {{"ScaleRows"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {matrix, {{m}}}}, {"rank 3", {{{m, 2, 3}}, {{m}}}}, {"nothing", {{{0, 3}}, {{0}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (std::size_t i = 0; i < x[0].size(); ++i) {
           const double v = x[0][i] * x[1][i / (x[0].size() / x[1].size())];
           y.push_back({v, spacing(c.inputs[0].dtype(), v)});
         }
         return expectation{{y}};
       },
       {{"ScaleRows", {f({2, 3}), f({3})}, {}, "rows"}, {"ScaleRows", {f({2, 3}), f({2, 1})}, {}, "1 dimensions"}}},
      {{"SoftmaxCrossEntropyWithLogits"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, distribution, 0.1, 1}, matrix}}, {"nothing", {{{0, 3}, distribution}, {{0, 3}}}}};
       },
       cross_entropy_reference,
       {{"SoftmaxCrossEntropyWithLogits", {f({2, 3}), f({2, 4})}, {}, "[2, 3]"},
        {"SoftmaxCrossEntropyWithLogits", {d({2, 3}), f({2, 3})}, {}, "pn::cast"}}},
      {{"SparseSoftmaxCrossEntropyWithLogits"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         const double c = static_cast<double>(n);
         return {{"int32", {{{m}, index32, 0, c}, matrix}},
                 {"int64", {{{m}, index64, 0, c}, matrix}},
                 {"nothing", {{{0}, index32, 0, 3}, {{0, 3}}}}};
       },
       cross_entropy_reference,
       {{"SparseSoftmaxCrossEntropyWithLogits", {f({2}), f({2, 3})}, {}, "int32 or int64"},
        {"SparseSoftmaxCrossEntropyWithLogits", {i({3}), f({2, 3})}, {}, "rows"},
        {"SparseSoftmaxCrossEntropyWithLogits", {i({2, 1}), f({2, 3})}, {}, "1 dimensions"}}},
      {{"InTopK"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         std::vector<sample> all;
         const double c = static_cast<double>(n);
         for (dtype d : {dtype::float32, dtype::float64})
           for (role r : {index32, index64})
             all.push_back({std::string(to_string(d)), {matrix, {{m}, r, 0, c}}, plain({{"k", std::int64_t{2}}}), d});
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const auto n = static_cast<std::size_t>(c.inputs[0].shape()[1]);
         std::vector<ranged> y;
         for (std::size_t r = 0; r < x[1].size(); ++r) {
           const double target = x[0][r * n + static_cast<std::size_t>(x[1][r])];
           int before = 0;
           bool finite = std::isfinite(target);
           for (std::size_t j = 0; j < n; ++j)
             before += x[0][r * n + j] > target, finite &= std::isfinite(x[0][r * n + j]);
           y.push_back({finite && before < c.attrs.get<std::int64_t>("k") ? 1.0 : 0.0, 0});
         }
         return expectation{{y}};
       },
       {{"InTopK", {f({2, 3}), f({2})}, {{"k", 1}}, "int32 or int64"},
        {"InTopK", {f({2}), i({2})}, {{"k", 1}}, "2 dimensions"}}},
  };
}

}  // namespace laws

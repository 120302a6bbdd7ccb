// Attention, and its gradient.
#pragma once

#include "laws/row.hpp"

namespace laws {

// Attention of doubles: the weights of all queries and keys, as they are defined.
struct plain_attention {
  std::size_t heads = 1, m, n, d, e, sharing = 1;
  std::vector<double> weights, y, logarithms;

  plain_attention(const call& c, const tensors& x, std::size_t first, std::size_t mask) {
    const shape &q = c.inputs[first].shape(), &k = c.inputs[first + 1].shape();
    const int r = q.rank();
    for (int axis = 0; axis < r - 2; ++axis) heads *= static_cast<std::size_t>(q[axis]);
    m = static_cast<std::size_t>(q[r - 2]), n = static_cast<std::size_t>(k[r - 2]);
    d = static_cast<std::size_t>(q[r - 1]), e = static_cast<std::size_t>(c.inputs[first + 2].shape()[r - 1]);
    if (r > 2 && k[r - 3] > 0) sharing = static_cast<std::size_t>(q[r - 3] / k[r - 3]);
    const double scale = c.attrs.get_or("scale", 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(d, 1))));
    shape scores = q;
    scores.set(r - 1, static_cast<std::int64_t>(n));
    weights.resize(heads * m * n), y.resize(heads * m * e), logarithms.resize(heads * m);
    for (std::size_t row = 0; row < heads * m; ++row) {
      const std::size_t keys = row / m / sharing * n;
      std::vector<double> s(n);
      double most = -HUGE_VAL, sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < d; ++i) s[j] += x[first][row * d + i] * x[first + 1][(keys + j) * d + i];
        s[j] *= scale;
        if (mask > 0) s[j] = masked(c, x, mask, scores, row * n + j, s[j]);
        if (c.attrs.get_or("causal", false) && j + m > row % m + n) s[j] = -HUGE_VAL;
        most = std::max(most, s[j]);
      }
      for (std::size_t j = 0; j < n; ++j) sum += s[j] == -HUGE_VAL ? 0 : std::exp(s[j] - most);
      logarithms[row] = sum == 0 ? -HUGE_VAL : most + std::log(sum);
      for (std::size_t j = 0; j < n; ++j) {
        const double weight = s[j] == -HUGE_VAL ? 0 : std::exp(s[j] - most) / sum;
        weights[row * n + j] = weight;
        for (std::size_t i = 0; i < e; ++i)
          if (weight != 0) y[row * e + i] += weight * x[first + 2][(keys + j) * e + i];
      }
    }
  }

 private:
  static double masked(const call& c, const tensors& x, std::size_t mask, const shape& scores, std::size_t at,
                       double s) {
    const std::size_t e = broadcast_index(scores, c.inputs[mask].shape(), static_cast<std::int64_t>(at));
    if (c.inputs[mask].dtype() == dtype::boolean) return x[mask][e] != 0 ? s : -HUGE_VAL;
    return s + x[mask][e];
  }
};

inline std::optional<expectation> attention_reference(const call& c, const tensors& x) {
  const plain_attention of(c, x, 0, c.inputs.size() > 3 ? 3 : 0);
  const dtype type = c.inputs[0].dtype();
  const double size = 64 * static_cast<double>(of.d + 4);
  return expectation{{near(of.y, type, size, are_tame(x)), near(of.logarithms, type, size, are_tame(x))}};
}

// The gradient of attention as it is defined by weights. The inputs y and logarithms are those that the kernel takes,
// so weights are exp(score - logarithm).
inline std::optional<expectation> attention_gradient_reference(const call& c, const tensors& x) {
  const bool masked = c.attrs.get_or("masked", false);
  const std::size_t mask = masked ? 6 : 0, of_logarithms = masked ? 7 : 6;
  const plain_attention of(c, x, 1, mask);
  const auto &dy = x[0], &q = x[1], &k = x[2], &v = x[3], &y = x[4], &logarithms = x[5];
  const double scale = c.attrs.get_or("scale", 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(of.d, 1))));
  std::vector<double> dq(q.size()), dk(k.size()), dv(v.size()), dscores(of.weights.size());
  double size = 1;
  for (std::size_t row = 0; row < of.heads * of.m; ++row) {
    const std::size_t keys = row / of.m / of.sharing * of.n;
    double product = c.inputs.size() > of_logarithms ? -x[of_logarithms][row] : 0;
    for (std::size_t i = 0; i < of.e; ++i) product += dy[row * of.e + i] * y[row * of.e + i];
    for (std::size_t j = 0; j < of.n; ++j) {
      const double weight = of.weights[row * of.n + j] == 0
                                ? 0
                                : of.weights[row * of.n + j] * std::exp(of.logarithms[row] - logarithms[row]);
      double slope = 0;
      for (std::size_t i = 0; i < of.e; ++i) {
        slope += dy[row * of.e + i] * v[(keys + j) * of.e + i];
        dv[(keys + j) * of.e + i] += weight * dy[row * of.e + i];
      }
      slope = weight * (slope - product), dscores[row * of.n + j] = slope;
      size = std::max({size, std::abs(slope), weight * 10 * static_cast<double>(of.e)});
      for (std::size_t i = 0; i < of.d; ++i) {
        dq[row * of.d + i] += slope * scale * k[(keys + j) * of.d + i];
        dk[(keys + j) * of.d + i] += slope * scale * q[row * of.d + i];
      }
    }
  }
  const dtype type = c.inputs[0].dtype();
  const bool known = are_tame(x);
  size *= 64 * static_cast<double>(of.m + of.n + of.d + of.e);
  expectation all{{near(dq, type, size, known), near(dk, type, size, known), near(dv, type, size, known)}};
  if (mask > 0 && c.inputs[mask].dtype() != dtype::boolean) all.outputs.push_back(near(dscores, type, size, known));
  return all;
}

inline std::vector<sample> attention_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const bool backward = op.ends_with("Grad");
  const auto add = [&](std::string note, const shape& q, const shape& k, std::int64_t e, attributes attrs,
                       std::optional<input> mask = {}) {
    shape y = q, v = k, rows;
    y.set(q.rank() - 1, e), v.set(k.rank() - 1, e);
    for (int axis = 0; axis < q.rank() - 1; ++axis) rows.push_back(q[axis]);
    std::vector<input> inputs{{q}, {k}, {v}};
    if (backward) inputs = {{y}, {q}, {k}, {v}, {y}, {rows, role::number, 1, 3}};
    if (mask) inputs.push_back(*mask);
    if (backward) attrs.set("masked", mask.has_value());
    if (backward && note == "heads") inputs.push_back({rows});
    all.push_back({std::move(note), std::move(inputs), plain(std::move(attrs))});
    all.back().smooth = !backward;
  };
  using enum role;
  add("heads", {2, 2, m, 4}, {2, 2, n, 4}, 3, {});
  add("causal", {2, m, 4}, {2, m, 4}, 4, {{"causal", true}});
  add("causal, of later keys", {1, 3, 4}, {1, 3 + n, 4}, 2, {{"causal", true}});
  add("causal, of fewer keys", {1, m + 2, 4}, {1, m, 4}, 2, {{"causal", true}});
  add("heads that share", {2, 4, m, 3}, {2, 2, n, 3}, 3, {{"scale", .3}});
  add("matrices", {m, 4}, {n, 4}, 5, {});
  add("a mask", {2, 2, m, 4}, {2, 2, n, 4}, 3, {}, input{{2, 1, m, n}, mask});
  add("a mask of keys", {2, m, 4}, {2, n, 4}, 3, {{"causal", true}}, input{{2, 1, n}, mask});
  add("numbers as a mask", {2, 2, m, 4}, {2, 2, n, 4}, 3, {}, input{{2, m, n}});
  add("numbers of queries", {m, 4}, {n, 4}, 3, {}, input{{m, 1}});
  add("no queries", {2, 0, 4}, {2, n, 4}, 3, {});
  add("no keys", {2, m, 4}, {2, 0, 4}, 3, {});
  add("no depth", {2, m, 0}, {2, n, 0}, 3, {});
  return all;
}

inline row attention_row() {
  return {
      {"ScaledDotProductAttention"},
      attention_samples,
      attention_reference,
      {{"ScaledDotProductAttention", {f({2, 3}), f({4, 2}), f({4, 2})}, {}, "queries of shape [2, 3], keys of [4, 2]"},
       {"ScaledDotProductAttention", {f({2, 3}), f({4, 3}), f({3, 3})}, {}, "values of [3, 3]"},
       {"ScaledDotProductAttention", {f({3, 2, 3}), f({2, 2, 3}), f({2, 2, 3})}, {}, "a multiple"},
       {"ScaledDotProductAttention", {f({3}), f({3}), f({3})}, {}, "queries of shape [3]"},
       {"ScaledDotProductAttention", {i({2, 3}), i({2, 3}), i({2, 3})}, {}, "is not defined"},
       {"ScaledDotProductAttention", {f({2, 3}), f({2, 3}), f({2, 3}), i({2, 2})}, {}, "a mask of int32"},
       {"ScaledDotProductAttention", {f({2, 3}), f({2, 3}), f({2, 3}), b({3})}, {}, "a mask of shape [3]"},
       {"ScaledDotProductAttention",
        {f({2, 3}), f({2, 3}), f({2, 3}), b({1, 2, 2})},
        {},
        "a mask of shape [1, 2, 2]"}}};
}

inline row attention_gradient_row() {
  const any_tensor x = f({2, 3});
  return {
      {"ScaledDotProductAttentionGrad"},
      attention_samples,
      attention_gradient_reference,
      {{"ScaledDotProductAttentionGrad", {f({2, 4}), x, x, x, x, f({2})}, {}, "input 0 has shape [2, 4]"},
       {"ScaledDotProductAttentionGrad", {x, x, x, x, x, f({2})}, {{"masked", true}}, "6 inputs where 7 are expected"},
       {"ScaledDotProductAttentionGrad", {x, x, x, x, x, f({3})}, {}, "input 5 has shape [3]"},
       {"ScaledDotProductAttentionGrad", {x, x, x, x, x, i({2})}, {}, "another dtype"},
       {"ScaledDotProductAttentionGrad", {x, x, f({2, 2}), x, x, f({2})}, {}, "keys of [2, 2]"}}};
}

inline std::vector<row> attention_rows() {
  return {attention_row(), attention_gradient_row()};
}

}  // namespace laws

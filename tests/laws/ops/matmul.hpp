// Products of matrices.
#pragma once

#include "laws/row.hpp"

namespace laws {

// Products of m x k and k x n matrices, each as it is or transposed, without columns, and with nothing inside; with
// further attributes and, if they are biased, a bias of the columns.
inline std::vector<sample> product_samples(std::int64_t m, std::int64_t n, const std::string& note = "",
                                           const attributes& further = {}, bool biased = false) {
  std::vector<sample> all;
  const auto add = [&](const std::string& what, shape a, shape b, bool ta, bool tb) {
    attributes attrs = further;
    attrs.set("transpose_a", ta);
    attrs.set("transpose_b", tb);
    std::vector<input> inputs{{a}, {b}};
    if (biased) inputs.push_back({{b[tb ? 0 : 1]}});
    all.push_back({what + note, std::move(inputs), plain(std::move(attrs))});
  };
  const std::int64_t k = 6;
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      add(std::string(ta ? "left" : "") + (tb ? "right" : "") + " turned", ta ? shape{k, m} : shape{m, k},
          tb ? shape{n, k} : shape{k, n}, ta, tb);
  add("no columns", {m, 3}, {3, 0}, false, false);
  add("nothing inside", {m, 0}, {0, n}, false, false);
  return all;
}

inline std::optional<expectation> product_reference(const call& c, const tensors& x) {
  const bool ta = c.attrs.get_or("transpose_a", false), tb = c.attrs.get_or("transpose_b", false);
  const shape &a = c.inputs[0].shape(), &b = c.inputs[1].shape();
  const auto m = a[ta ? 1 : 0], k = a[ta ? 0 : 1], n = b[tb ? 0 : 1];
  std::vector<ranged> y;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = x.size() > 2 ? x[2][static_cast<std::size_t>(j)] : 0, magnitude = std::abs(sum);
      for (std::int64_t l = 0; l < k; ++l) {
        const double term = x[0][static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                            x[1][static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
        sum += term, magnitude += std::abs(term);
      }
      if (c.attrs.get_or("relu", false)) sum = std::max(sum, 0.0);
      y.push_back(rounded(c.inputs[0].dtype(), sum, magnitude, static_cast<double>(k) + 2));
    }
  return expectation{{y}};
}

// Products beside the values of a relu.
inline std::vector<sample> relu_gradient_samples(std::int64_t m, std::int64_t n) {
  auto all = product_samples(m, n, ", behind a relu");
  for (sample& s : all) {
    const auto attrs = s.attrs(dtype::float32);
    s.inputs.push_back({{s.inputs[0].extent[attrs.get<bool>("transpose_a") ? 1 : 0],
                         s.inputs[1].extent[attrs.get<bool>("transpose_b") ? 0 : 1]}});
  }
  return all;
}

// A product, and the sums over its rows once it is 0 where the relu was.
inline std::optional<expectation> relu_gradient_reference(const call& c, const tensors& x) {
  auto product = product_reference(c, {x[0], x[1]})->outputs[0];
  const dtype type = c.inputs[0].dtype();
  const std::int64_t n = c.inputs[2].shape()[1];
  std::vector<double> sums(static_cast<std::size_t>(n)), sizes = sums, slacks = sums;
  for (std::size_t i = 0; i < product.size(); ++i) {
    if (!(x[2][i] > 0)) product[i] = {0, 0};
    const auto column = i % static_cast<std::size_t>(n);
    sums[column] += product[i].value;
    sizes[column] += std::abs(product[i].value) + product[i].slack;
    slacks[column] += product[i].slack;
  }
  std::vector<ranged> all;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    ranged sum = rounded(type, sums[j], sizes[j], static_cast<double>(c.inputs[2].shape()[0]) + 1);
    sum.slack += slacks[j];
    all.push_back(sum);
  }
  return expectation{{product, all}};
}

// A product, and the sums of a factor over the inner dimension.
inline std::optional<expectation> factor_sums_reference(const call& c, const tensors& x) {
  const bool left = c.attrs.get_or("sums_left", false);
  const auto& factor = c.inputs[left ? 0 : 1].shape();
  const bool per_column = left == c.attrs.get_or(left ? "transpose_a" : "transpose_b", false);
  std::vector<double> sums(static_cast<std::size_t>(factor[per_column ? 1 : 0])), sizes = sums;
  const auto& values = x[left ? 0 : 1];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto columns = static_cast<std::size_t>(factor[1]), at = per_column ? i % columns : i / columns;
    sums[at] += values[i];
    sizes[at] += std::abs(values[i]);
  }
  std::vector<ranged> all;
  for (std::size_t i = 0; i < sums.size(); ++i)
    all.push_back(rounded(c.inputs[0].dtype(), sums[i], sizes[i], static_cast<double>(values.size()) + 1));
  return expectation{{product_reference(c, x)->outputs[0], all}};
}

inline std::vector<row> matmul_rows() {
  return {
      {{"MatMul"},
       [](std::string_view, std::int64_t m, std::int64_t n) { return product_samples(m, n); },
       product_reference,
       {{"MatMul", {f({2, 3}), f({2, 3})}, {}, "the inner dimensions 3 and 2 differ"},
        {"MatMul", {f({2, 3}), d({3, 2})}, {}, "MatMul of float and double"},
        {"MatMul", {f({2}), f({2, 3})}, {}, "2 dimensions"},
        {"MatMul", {d({2, 3}), d({3, 2})}, {{"compute", dtype::half}}, "only a product of float"},
        {"MatMul", {f({2, 3}), f({3, 2})}, {{"compute", dtype::int8}}, "bfloat16, half or float"}}},
      {{"MatMulBias"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         auto all = product_samples(m, n, ", biased", {}, true);
         for (sample& s : product_samples(m, n, ", biased, then relu", {{"relu", true}}, true)) all.push_back(s);
         return all;
       },
       product_reference,
       {{"MatMulBias", {f({2, 3}), f({3, 4}), f({3})}, {}, "a bias of 3 elements for a product of shape [2, 4]"},
        {"MatMulBias", {f({2, 3}), f({2, 3}), f({3})}, {}, "the inner dimensions 3 and 2 differ"},
        {"MatMulBias", {f({2, 3}), f({3, 4}), d({4})}, {}, "with a bias of double"},
        {"MatMulBias", {f({2, 3}), f({3, 4}), f({1, 4})}, {}, "1 dimension"}}},
      {{"MatMulReluGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) { return relu_gradient_samples(m, n); },
       relu_gradient_reference,
       {{"MatMulReluGrad", {f({2, 3}), f({3, 4}), f({2, 3})}, {}, "[2, 4] beside a relu of shape [2, 3]"},
        {"MatMulReluGrad", {f({2, 3}), f({2, 3}), f({2, 3})}, {}, "the inner dimensions 3 and 2 differ"},
        {"MatMulReluGrad", {f({2, 3}), f({3, 4}), d({2, 4})}, {}, "beside a relu of double"},
        {"MatMulReluGrad", {f({2, 3}), f({3, 4}), f({2, 4}), f({2, 4})}, {}, "the mask of a relu is float"}}},
      {{"MatMulBiasGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         auto all = product_samples(m, n, ", with sums of the right factor");
         for (sample& s : product_samples(m, n, ", with sums of the left factor", {{"sums_left", true}}))
           all.push_back(s);
         return all;
       },
       factor_sums_reference,
       {{"MatMulBiasGrad", {f({2, 3}), f({2, 3})}, {}, "the inner dimensions 3 and 2 differ"},
        {"MatMulBiasGrad", {f({2, 3}), d({3, 2})}, {}, "MatMulBiasGrad of float and double"},
        {"MatMulBiasGrad", {f({2}), f({2, 3})}, {}, "2 dimensions"}}},
  };
}

}  // namespace laws

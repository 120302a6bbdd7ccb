// Attention.
//
//   auto y = pn::scaled_dot_product_attention(q, k, v, {.causal = true});     // [batch, heads, length, depth], thrice
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/attention/op.hpp>

namespace pinion { inline namespace v0 {

// Options of scaled_dot_product_attention. The mask is an expression that broadcasts to the scores [..., heads, m, n]:
// of bool, true where a query may see a key, or of the operands' dtype, which is added to the scores. Both hold where a
// mask is given and `causal` is true. The scale of the scores is 1 / sqrt(depth) unless it is given.
struct attention_options {
  bool causal = false;
  any_expr mask = {};
  std::optional<double> scale = {};
  std::string_view name = {};
};

// For each query the mean of the values, weighted by the softmax of its scores, which are its products with the keys,
// scaled (Vaswani et al. 2017): q [..., heads, m, depth], k [..., heads, n, depth] and v [..., heads, n, e] -> [...,
// heads, m, e]. Leading axes agree, but queries may have a multiple of the heads of keys and values: then each group of
// neighbouring heads shares them (Ainslie et al. 2023). `causal` lets a query see the keys up to its own place, where
// the last query stands beside the last key: so a query of length 1 sees all keys of a cache. A query that sees no key
// yields 0. float or double. Throws invalid_argument where shapes do not fit, as far as they are known; the step fails
// otherwise. CPUs only. PyTorch: torch.nn.functional.scaled_dot_product_attention, whose causal mask begins at the
// first query.
//
// The scores of all queries and keys are never in memory: blocks of them are, by the softmax of Milakov and Gimelshein
// (2018) that is corrected as greater scores come, as in FlashAttention (Dao et al. 2022). Differentiable once, by q,
// k, v, and a mask of numbers; only the gradient of such a mask holds all scores.
template <dsl::graph_operand Q, dsl::graph_operand K, dsl::graph_operand V>
auto scaled_dot_product_attention(Q&& q, K&& k, V&& v, const attention_options& options = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<Q>;
  static_assert(dsl::same_dtype<T, dsl::value_of<K>> && dsl::same_dtype<T, dsl::value_of<V>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  attributes attrs{{"causal", options.causal}};
  if (options.scale) attrs.set("scale", *options.scale);
  dsl::check_stored<Q>(), dsl::check_stored<K>(), dsl::check_stored<V>();
  graph& g = dsl::graph_of(q, k, v);
  const auto input = [&](const auto& x) { return dsl::endpoint_of(x, where).endpoint(g); };
  using result = expr<T, dsl::made_by<op::attention>>;
  constexpr std::string_view name = op::attention::name;
  if (options.mask.empty())
    return result(g, dsl::make_node(g, name, options.name, where, std::move(attrs), {input(q), input(k), input(v)}));
  return result(g, dsl::make_node(g, name, options.name, where, std::move(attrs),
                                  {input(q), input(k), input(v), input(options.mask)}));
}

}}  // namespace pinion::v0

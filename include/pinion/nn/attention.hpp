// Layers of attention.
//
//   auto y = pn::nn::multi_head_attention(x, {.heads = 8, .causal = true});     // [batch, length, width] -> the same
#pragma once

#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/op/attention/functions.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of multi_head_attention. `key_heads` are the heads of keys and values, of which each serves heads / key_heads
// heads of queries; 0: as many as heads. `depth` is that of a head; 0: the width divided by the heads. Mask and
// `causal` are those of pn::attention_options. The seed is that of the kernels; 0 draws others in each session.
struct multi_head_attention_options {
  std::int64_t heads = 1, key_heads = 0, depth = 0;
  bool causal = false;
  any_expr mask = {};
  bool use_bias = true;
  std::int64_t seed = 0;
  std::string_view name = "multi_head_attention";
};

namespace detail {

// The extents of the layer. Throws invalid_argument unless queries and keys are [batch, length, width] of known widths,
// and the heads go into the width.
struct heads_of_attention {
  std::int64_t width, heads, key_heads, depth;
  heads_of_attention(const any_expr& queries, const any_expr& keys, const multi_head_attention_options& o);
};

// A projection of the layer by variables PART/kernel and PART/bias: x, contracted with a kernel drawn as a matrix.
template <class T>
expr<T> projected(const expr<T>& x, std::string_view part, std::string_view equation, const shape& kernel,
                  const shape& bias, std::int64_t rows, std::int64_t seed, bool use_bias, source_location where) {
  const name_scope scope{part};
  const std::int64_t columns = kernel.count() / rows;
  const expr<T> drawn = reshape(glorot_uniform_initializer(seed).of<T>({rows, columns}, where), kernel, {}, where);
  const auto weights = variable(drawn, {.name = "kernel"}, where);
  const expr<T> y = einsum(dsl::equation_text(equation, where), x, weights);
  if (!use_bias) return y;
  const auto added = variable(fill<T>(bias, T(0), {}, where), {.name = "bias"}, where);
  if (bias.rank() == 1) return y + added;
  return y + expand_dims(added, 1, {}, where);
}

}  // namespace detail

// Attention of several heads (Vaswani et al. 2017): queries [batch, m, width] see `memory` [batch, n, other width], of
// which keys and values are made -> [batch, m, width]. The variables are NAME/query/kernel [width, heads, depth] and
// bias [heads, depth], NAME/key and NAME/value alike with key_heads, and NAME/attention_output/kernel [heads, depth,
// width] and bias [width], named as Keras names them. Kernels begin uniform by Glorot's rule for matrices, and biases
// as 0. Throws invalid_argument unless both have three axes and known widths, and the heads go into the width unless a
// depth is given. float, double. Keras: MultiHeadAttention.
//
// The heads' axes are written where attention wants them by the products themselves, so nothing is transposed.
template <dsl::graph_operand Q, dsl::graph_operand M>
expr<dsl::value_of<Q>> multi_head_attention(Q&& queries, M&& memory, const multi_head_attention_options& o = {},
                                            source_location where = source_location::current()) {
  using T = dsl::value_of<Q>;
  dsl::check_floating<Q>();
  const expr<T> x = std::forward<Q>(queries), seen = std::forward<M>(memory);
  const detail::heads_of_attention of(x, seen, o);
  const called_from line(where);
  const name_scope scope{o.name};
  const auto project = [&](const expr<T>& from, std::string_view part, std::int64_t heads, std::int64_t place) {
    const std::int64_t width = from.shape()[2];
    return detail::projected<T>(from, part, "btc,chd->bhtd", {width, heads, of.depth}, {heads, of.depth}, width,
                                o.seed == 0 ? 0 : o.seed + place, o.use_bias, where);
  };
  const expr<T> q = project(x, "query", of.heads, 0), k = project(seen, "key", of.key_heads, 1),
                v = project(seen, "value", of.key_heads, 2);
  const expr<T> heads =
      scaled_dot_product_attention(q, k, v, {.causal = o.causal, .mask = o.mask, .name = "attention"}, where);
  return detail::projected<T>(heads, "attention_output", "bhtd,hdc->btc", {of.heads, of.depth, of.width}, {of.width},
                              of.heads * of.depth, o.seed == 0 ? 0 : o.seed + 3, o.use_bias, where);
}
// Attention of a sequence [batch, length, width] to itself.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> multi_head_attention(A&& x, const multi_head_attention_options& o = {},
                                            source_location where = source_location::current()) {
  const expr<dsl::value_of<A>> both = std::forward<A>(x);
  return multi_head_attention(both, both, o, where);
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/attention.ipp>
#endif

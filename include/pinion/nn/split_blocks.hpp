// Blocks of a transformer that are split over devices, with one sum for each (Shoeybi et al. 2019, Megatron-LM): the
// first kernels are cut by columns, the last one by rows, and what is between them stays on its device.
//
//   x ──┬── up[:, 0:n] ── activation ── down[0:n] ────┐        /gpu:0
//       └── up[:, n:2n] ─ activation ── down[n:2n] ───┴── + ── bias
//
//   #include <pinion/nn/split_blocks.hpp>
//
//   const std::vector<std::string> devices{"/gpu:0", "/gpu:1"};
//   auto h = x + pn::nn::split_multi_head_attention(pn::nn::layer_norm(x), devices, {.heads = 8, .causal = true});
//   auto y = h + pn::nn::split_feed_forward(pn::nn::layer_norm(h), 2048, devices, pn::nn::gelu);
//
// x is copied to all devices, a product of the shape of x comes from each, and the first device adds them; backward,
// the gradients of x are added alike. Kernels begin as parts of one draw, which is that of the layers that are not
// split, so both compute the same up to the order of float sums. graph.hpp does not bring this header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/nn/attention.hpp>
#include <pinion/nn/layers.hpp>
#include <pinion/op/slice/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

namespace detail {

// The parts of a number of units over devices: the first ones have one more where the division has a rest. Immutable.
class shares {
 public:
  // Throws invalid_argument where there is no device, and where there are more devices than units; `what` names the
  // units in the sentence.
  shares(std::int64_t units, const std::vector<std::string>& devices, std::string_view what);

  std::int64_t count() const { return count_; }
  std::int64_t size(std::int64_t k) const { return units_ / count_ + (k < units_ % count_ ? 1 : 0); }
  std::int64_t begin(std::int64_t k) const { return k * (units_ / count_) + std::min(k, units_ % count_); }

 private:
  std::int64_t units_, count_;
};

// A mask of attention for some heads: cut along the axis of the heads, where it has one.
any_expr mask_of_heads(const any_expr& mask, std::int64_t first, std::int64_t heads, source_location where);

// The part [first, first + n) of x along an axis.
template <class T>
expr<T> part_along(const expr<T>& x, int axis, std::int64_t first, std::int64_t n, source_location where) {
  integers begin(static_cast<std::size_t>(x.shape().rank()), 0), size(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = n;
  return slice(x, begin, size, {}, where);
}

// The sum of what the devices yield, and of a bias, by variable SCOPE/bias, on the first device.
template <class T>
expr<T> joined_parts(const std::vector<expr<T>>& parts, const std::string& device_of_sum, std::string_view scope,
                     const expr<T>& first_bias, source_location where) {
  const device on{device_of_sum, where};
  expr<T> sum = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) sum = add(sum, parts[k], "sum", where);
  if (first_bias.empty()) return sum;
  const name_scope in{scope};
  const auto bias = variable(first_bias, {.name = "bias"}, where);
  return add(sum, bias, {}, where);
}

// A projection by parts of kernels and biases that were drawn for all heads.
template <class T>
struct projection {
  expr<T> kernel, bias;  // no bias: an empty expression
  std::string_view name;

  // By variables NAME/kernel and NAME/bias.
  expr<T> of(const expr<T>& x, std::int64_t first, std::int64_t heads, source_location where) const {
    const name_scope scope{name};
    const auto weights = variable(part_along(kernel, 1, first, heads, where), {.name = "kernel"}, where);
    const expr<T> y = einsum(dsl::equation_text("btc,chd->bhtd", where), x, weights);
    if (bias.empty()) return y;
    const auto added = variable(part_along(bias, 0, first, heads, where), {.name = "bias"}, where);
    return add(y, expand_dims(added, 1, {}, where), {}, where);
  }
};
template <class T>
projection<T> drawn_projection(std::string_view name, const shape& kernel, std::int64_t seed, bool use_bias,
                               source_location where) {
  const shape matrix{kernel[0], kernel[1] * kernel[2]};
  projection<T> all{reshape(glorot_uniform_initializer(seed).of<T>(matrix, where), kernel, {}, where), {}, name};
  if (use_bias) all.bias = fill<T>({kernel[1], kernel[2]}, T(0), {}, where);
  return all;
}

}  // namespace detail

// Options of split_feed_forward. Initialisers are those of dense, for both kernels and both biases; without them
// kernels begin uniform by Glorot's rule, the second one by the seed after this one. A seed of 0 draws others in each
// session.
struct split_feed_forward_options {
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};
  std::optional<initializer> bias_initializer = {};
  std::string_view name = "feed_forward";
};

// Two dense layers whose units between them are split over devices: activation(x up + b) down + c, x [..., width] ->
// [..., width]. The variables of the k-th device are NAME/part_K/up/kernel [width, n], NAME/part_K/up/bias [n] and
// NAME/part_K/down/kernel [n, width], where n is the number of its units; the first devices have one more where the
// division has a rest. The first device has NAME/down/bias [width], too. The activation must work element by element.
// float, double. Devices are names as device guards take them. Throws invalid_argument where there is no device, where
// there are more devices than units, and unless x has rank 2 or more and a known last extent.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> split_feed_forward(A&& x, std::int64_t units, const std::vector<std::string>& devices,
                                          Activation activation, const split_feed_forward_options& o = {},
                                          source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> from = std::forward<A>(x);
  const shape extent = from.shape();
  if (extent.rank() < 2 || extent[extent.rank() - 1] < 1)
    throw error(errc::invalid_argument, "split_feed_forward of '" + from.name() + "' of shape " + to_string(extent) +
                                            ": it takes rank 2 or more, and a known last extent");
  const std::int64_t width = extent[extent.rank() - 1];
  const detail::shares shares(units, devices, "units");
  const called_from line(where);
  const name_scope scope{o.name};
  const initializer biases = o.bias_initializer.value_or(zeros_initializer());
  const auto kernel = [&](const shape& of, std::int64_t place) {
    const initializer uniform = glorot_uniform_initializer(o.seed == 0 ? 0 : o.seed + place);
    return expr<T>(o.kernel_initializer.value_or(uniform).template of<T>(of, where));
  };
  const expr<T> ups = kernel({width, units}, 0), downs = kernel({units, width}, 1);
  const expr<T> up_bias = biases.template of<T>({units}, where);
  std::vector<expr<T>> parts;
  for (std::int64_t k = 0; k < shares.count(); ++k) {
    const device on{devices[static_cast<std::size_t>(k)], where};
    const name_scope part{"part_" + std::to_string(k)};
    const auto middle = [&]() -> expr<T> {
      const name_scope up{"up"};
      const auto weights =
          variable(detail::part_along(ups, 1, shares.begin(k), shares.size(k), where), {.name = "kernel"}, where);
      const expr<T> product = matmul(from, weights, {}, where);
      if (!o.use_bias) return activated(product, activation);
      return detail::activated_with_bias(
          product, detail::part_along(up_bias, 0, shares.begin(k), shares.size(k), where), activation, where);
    }();
    const name_scope down{"down"};
    const auto weights =
        variable(detail::part_along(downs, 0, shares.begin(k), shares.size(k), where), {.name = "kernel"}, where);
    parts.push_back(matmul(middle, weights, {}, where));
  }
  const expr<T> down_bias = o.use_bias ? expr<T>(biases.template of<T>({width}, where)) : expr<T>();
  return detail::joined_parts(parts, devices[0], "down", down_bias, where);
}
// Takes the activation as a function of pinion by its name.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> split_feed_forward(A&& x, std::int64_t units, const std::vector<std::string>& devices,
                                          dsl::function_by_name<dsl::value_of<A>> activation,
                                          const split_feed_forward_options& o = {},
                                          source_location where = source_location::current()) {
  return nn::split_feed_forward(std::forward<A>(x), units, devices, by_name<dsl::value_of<A>>(activation), o, where);
}

// multi_head_attention whose heads are split over devices, with its options: queries [batch, m, width] see `memory`
// [batch, n, other width] -> [batch, m, width]. Each device has some heads of keys, and the heads of queries that they
// serve; the first ones have one more where the division has a rest. The variables of the k-th device are
// NAME/part_K/query/kernel [width, heads of it, depth] and bias, NAME/part_K/key and NAME/part_K/value alike, and
// NAME/part_K/attention_output/kernel [heads of it, depth, width]; the first device has NAME/attention_output/bias
// [width], too. Throws what multi_head_attention throws, and invalid_argument where there is no device, and where there
// are more devices than heads of keys. float, double.
template <dsl::graph_operand Q, dsl::graph_operand M>
expr<dsl::value_of<Q>> split_multi_head_attention(Q&& queries, M&& memory, const std::vector<std::string>& devices,
                                                  const multi_head_attention_options& o = {},
                                                  source_location where = source_location::current()) {
  using T = dsl::value_of<Q>;
  dsl::check_floating<Q>();
  const expr<T> x = std::forward<Q>(queries), seen = std::forward<M>(memory);
  const detail::heads_of_attention of(x, seen, o);
  const detail::shares shares(of.key_heads, devices, "heads of keys");
  const std::int64_t served = of.heads / of.key_heads, other = seen.shape()[2];
  const called_from line(where);
  const name_scope scope{o.name};
  const auto seed = [&](std::int64_t place) { return o.seed == 0 ? 0 : o.seed + place; };
  const auto draw = [&](std::string_view name, const shape& kernel, std::int64_t place) {
    return detail::drawn_projection<T>(name, kernel, seed(place), o.use_bias, where);
  };
  const auto q = draw("query", {of.width, of.heads, of.depth}, 0), k = draw("key", {other, of.key_heads, of.depth}, 1),
             v = draw("value", {other, of.key_heads, of.depth}, 2);
  const expr<T> drawn = glorot_uniform_initializer(seed(3)).template of<T>({of.heads * of.depth, of.width}, where);
  const expr<T> outputs = reshape(drawn, {of.heads, of.depth, of.width}, {}, where);
  std::vector<expr<T>> parts;
  for (std::int64_t d = 0; d < shares.count(); ++d) {
    const device on{devices[static_cast<std::size_t>(d)], where};
    const name_scope part{"part_" + std::to_string(d)};
    const std::int64_t first = shares.begin(d), size = shares.size(d);
    const any_expr mask = detail::mask_of_heads(o.mask, first * served, size * served, where);
    const expr<T> heads = scaled_dot_product_attention(q.of(x, first * served, size * served, where),
                                                       k.of(seen, first, size, where), v.of(seen, first, size, where),
                                                       {.causal = o.causal, .mask = mask, .name = "attention"}, where);
    const name_scope output{"attention_output"};
    const auto weights =
        variable(detail::part_along(outputs, 0, first * served, size * served, where), {.name = "kernel"}, where);
    parts.push_back(einsum(dsl::equation_text("bhtd,hdc->btc", where), heads, weights));
  }
  const expr<T> bias = o.use_bias ? expr<T>(fill<T>({of.width}, T(0), {}, where)) : expr<T>();
  return detail::joined_parts(parts, devices[0], "attention_output", bias, where);
}
// Attention of a sequence [batch, length, width] to itself.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> split_multi_head_attention(A&& x, const std::vector<std::string>& devices,
                                                  const multi_head_attention_options& o = {},
                                                  source_location where = source_location::current()) {
  const expr<dsl::value_of<A>> both = std::forward<A>(x);
  return split_multi_head_attention(both, both, devices, o, where);
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/split_blocks.ipp>
#endif

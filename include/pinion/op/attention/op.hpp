// Attention: for each query the mean of the values, weighted by the softmax of its products with the keys.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

struct attending {
  static constexpr attribute_list attrs =
      attribute_list{attr::flag("causal").optional(), attr::real("scale").optional()} + compute_attribute;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
};

}  // namespace detail

// (q [..., heads, m, d], k [..., kv heads, n, d], v [..., kv heads, n, e]) -> y [..., heads, m, e], and the logarithm
// of the sum of the exponentials of each query's scores, [..., heads, m]. Scores are q k^T times "scale", which is 1 /
// sqrt(d) where there is none. A fourth input is a mask that broadcasts to the scores: bool, true for those that count,
// or numbers, which are added to them. "causal" leaves out keys behind a query, where the last query is beside the last
// key. Heads share keys in groups where there are more of them. A query for which no key counts yields 0.
struct attention : detail::attending {
  static constexpr std::string_view name = "ScaledDotProductAttention";
  static constexpr bool yields_infinity = true;  // a query that sees no key: the logarithm of a sum over none
  static constexpr input_count inputs{3, 4};
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (dy, q, k, v, y, logarithm of sums) and the mask, if there is one -> the gradients of attention by q, k and v; and,
// with a mask of numbers, by the scores, [..., heads, m, n], which is computed only where somebody reads it. Weights
// are computed anew, a block at a time.
struct attention_gradient : detail::attending {
  static constexpr std::string_view name = "ScaledDotProductAttentionGrad";
  static constexpr input_count inputs{6, 8};
  static constexpr attribute_list attrs = attention::attrs + attribute_list{attr::flag("masked").optional()};
  static constexpr std::string_view no_gradient =
      "the gradient of attention is not differentiated again; write attention with pn::matmul and pn::softmax for that";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/attention/op.ipp>
#endif

// Functions that make several nodes, or choose an op by their operands.
#include "functions.hpp"

#include <pinion/op/conv/functions.hpp>
#include <pinion/op/norm/group_norm.hpp>
#include <pinion/op/reduce/statistics.hpp>

namespace suites {
namespace {

namespace pn = pinion;
using pn::integers;

std::array<std::int64_t, 2> pair(const call& c, const char* name) {
  return c.option<std::array<std::int64_t, 2>>(name, {1, 1});
}
pn::padding padding_of(const call& c) {
  return c.option<std::string>("padding", "VALID") == "SAME" ? pn::padding::same : pn::padding::valid;
}
pn::reduce_options reduction(const call& c) {
  return {.axes = c.axes(), .keep_dims = c.option("keep_dims", false)};
}
template <class T>
std::vector<pn::expr<T>> all_of(const call& c) {
  std::vector<pn::expr<T>> all;
  for (std::size_t i = 0; i < c.operands.size(); ++i) all.push_back(c.as<T>(i));
  return all;
}
template <class T>
any_expr repeated(const call& c) {
  if (!c.options.contains("axis")) return pn::repeat(c.as<T>(0), c.option<std::int64_t>("times"));
  return pn::repeat(c.as<T>(0), c.option<std::int64_t>("times"), {.axis = c.option<std::int64_t>("axis")});
}
template <class T>
any_expr padded(const call& c) {
  const auto mode = c.option<std::string>("mode", "constant");
  return pn::pad(c.as<T>(0), c.option<std::vector<std::pair<std::int64_t, std::int64_t>>>("around"),
                 {.value = c.option("value", 0.0),
                  .mode = mode == "reflect"     ? pn::pad_mode::reflect
                          : mode == "symmetric" ? pn::pad_mode::symmetric
                                                : pn::pad_mode::constant});
}
template <class T>
any_expr attention(const call& c) {
  pn::attention_options options{.causal = c.option("causal", false)};
  if (c.operands.size() > 3) options.mask = c[3];
  if (c.options.contains("scale")) options.scale = c.option<double>("scale");
  return pn::scaled_dot_product_attention(c.as<T>(0), c.as<T>(1), c.as<T>(2), options);
}
template <class T>
any_expr transposed_convolution(const call& c) {
  pn::conv2d_transpose_options options{
      .strides = pair(c, "strides"), .padding = padding_of(c), .dilations = pair(c, "dilations")};
  if (c.options.contains("sizes")) options.sizes = pair(c, "sizes");
  return pn::conv2d_transpose(c.as<T>(0), c.as<T>(1), options);
}
double order(const call& c) {
  const json ord = c.options.value("ord", json(2.0));
  return ord.is_string() ? std::numeric_limits<double>::infinity() : ord.get<double>();  // "infinity", as JSON has none
}
any_expr found(const call& c, pn::side side) {
  return numbers(c, [&]<class T>() -> any_expr { return pn::searchsorted(c.as<T>(0), c.as<T>(1), {.side = side}); });
}

// clang-format off
#define FUNCTION(kind, name, ...) \
  {name, [](const call& c) { return kind(c, [&]<class T>() -> any_expr { return __VA_ARGS__; }); }}
// clang-format on

const function all[] = {
    FUNCTION(floating, "reduce_logsumexp", pn::reduce_logsumexp(c.as<T>(0), reduction(c))),
    FUNCTION(floating, "reduce_variance", pn::reduce_variance(c.as<T>(0), reduction(c))),
    FUNCTION(floating, "reduce_std", pn::reduce_std(c.as<T>(0), reduction(c))),
    FUNCTION(numbers, "count_nonzero", pn::count_nonzero(c.as<T>(0), reduction(c))),
    FUNCTION(floating, "norm",
             pn::norm(c.as<T>(0), {.ord = order(c), .axes = c.axes(), .keep_dims = c.option("keep_dims", false)})),
    FUNCTION(floating, "l2_loss", pn::l2_loss(c.as<T>(0))),
    FUNCTION(floating, "l2_normalize",
             pn::l2_normalize(c.as<T>(0), {.axes = c.axes(), .epsilon = c.option("epsilon", 1e-12)})),
    FUNCTION(floating, "cosine_similarity",
             pn::cosine_similarity(c.as<T>(0), c.as<T>(1), {.axis = c.option<std::int64_t>("axis", -1)})),
    FUNCTION(floating, "sigmoid_cross_entropy_with_logits",
             pn::sigmoid_cross_entropy_with_logits(c.as<T>(0), c.as<T>(1))),
    FUNCTION(floating, "bias_add", pn::bias_add(c.as<T>(0), c.as<T>(1))),
    FUNCTION(floating, "group_norm",
             pn::group_norm(c.as<T>(0), c.as<T>(1), c.as<T>(2),
                            {.groups = c.option<std::int64_t>("groups"), .epsilon = c.option("epsilon", 1e-5)})),
    FUNCTION(floating, "instance_norm",
             pn::instance_norm(c.as<T>(0), c.as<T>(1), c.as<T>(2), {.epsilon = c.option("epsilon", 1e-5)})),
    FUNCTION(floating, "scaled_dot_product_attention", attention<T>(c)),
    FUNCTION(floating, "conv1d",
             pn::conv1d(c.as<T>(0), c.as<T>(1),
                        {.stride = c.option<std::int64_t>("stride", 1),
                         .padding = padding_of(c),
                         .dilation = c.option<std::int64_t>("dilation", 1),
                         .groups = c.option<std::int64_t>("groups", 1)})),
    FUNCTION(floating, "conv2d",
             pn::conv2d(c.as<T>(0), c.as<T>(1),
                        {.strides = pair(c, "strides"),
                         .padding = padding_of(c),
                         .dilations = pair(c, "dilations"),
                         .groups = c.option<std::int64_t>("groups", 1)})),
    FUNCTION(floating, "depthwise_conv2d",
             pn::depthwise_conv2d(
                 c.as<T>(0), c.as<T>(1),
                 {.strides = pair(c, "strides"), .padding = padding_of(c), .dilations = pair(c, "dilations")})),
    FUNCTION(floating, "conv2d_transpose", transposed_convolution<T>(c)),
    FUNCTION(
        numbers, "matmul",
        pn::matmul(c.as<T>(0), c.as<T>(1),
                   {.transpose_a = c.option("transpose_a", false), .transpose_b = c.option("transpose_b", false)})),
    FUNCTION(plain, "tril", pn::tril(c.as<T>(0), c.option<std::int64_t>("k", 0))),
    FUNCTION(plain, "triu", pn::triu(c.as<T>(0), c.option<std::int64_t>("k", 0))),
    FUNCTION(plain, "stack", pn::stack(all_of<T>(c), c.option<std::int64_t>("axis", 0))),
    FUNCTION(plain, "repeat", repeated<T>(c)),
    FUNCTION(plain, "pad", padded<T>(c)),
    FUNCTION(plain, "boolean_mask",
             pn::boolean_mask(c.as<T>(0), c.as<bool>(1), {.axis = c.option<std::int64_t>("axis", 0)})),
    FUNCTION(floating, "product_sum", pn::reduce_sum(c.as<T>(0) * c.as<T>(1))),
    {"einsum", [](const call& c) { return pn::dsl::make_einsum(c.option<std::string>("equation"), c.operands); }},
    {"searchsorted",
     [](const call& c) { return found(c, c.option("right", false) ? pn::side::right : pn::side::left); }},
};
#undef FUNCTION

}  // namespace

std::span<const function> functions_of_tensors() {
  return all;
}

}  // namespace suites

// Classification: softmax, cross entropies with logits, and whether a target is among the top k.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_floating(const shape_context& c, int i, std::string_view what);

void expect_index(const shape_context& c, int i, std::string_view what);

// Extent `axis` of input i, where its rank is known.
std::int64_t extent_of(const shape_context& c, int i, int axis);

// The number of rows of two inputs, which must agree where both are known.
std::int64_t common_rows(const shape_context& c, int a, int b);

void infer_softmax(shape_context& c);

// The sum along the last axis, which stays with extent 1.
output row_sum(gradient_context& g, output x);

}  // namespace detail

struct softmax_like {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  // A maximum, a difference, an exponential, a sum and a quotient.
  static double work(const work_context& c);
};

// y = e^x / sum(e^x) along the last axis, computed from x - max(x).
struct softmax : softmax_like {
  static constexpr std::string_view name = "Softmax";
  // dx = (dy - sum(dy y)) y
  static void gradient(gradient_context& g);
};

// y = x - max(x) - log(sum(e^(x - max(x)))) along the last axis.
struct log_softmax : softmax_like {
  static constexpr std::string_view name = "LogSoftmax";
  // dx = dy - e^y sum(dy)
  static void gradient(gradient_context& g);
};

// (rows [n, ...], scale [n]) -> each row times its factor.
struct scale_rows {
  static constexpr std::string_view name = "ScaleRows";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

namespace detail {

output sum_of(gradient_context& g, output a, output b);

// The gradient of a cross entropy by its logits: that of the loss is output 1, times the loss's gradient in each row;
// that of output 1 itself, softmax(logits) - labels, is (dy - sum(dy p)) p with p = softmax(logits).
output gradient_by_logits(gradient_context& g);

}  // namespace detail

// (labels, logits), both [n, c] -> the loss [n] of each row, -sum(labels log_softmax(logits)), and its gradient by the
// logits, softmax(logits) - labels. A label 0 counts nothing, whatever its logit.
struct softmax_cross_entropy {
  static constexpr std::string_view name = "SoftmaxCrossEntropyWithLogits";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (labels int32 or int64 [n], logits [n, c]) -> as above, where row i has all its weight on class labels[i]. A label
// outside [0, c) fails the step.
struct sparse_softmax_cross_entropy {
  static constexpr std::string_view name = "SparseSoftmaxCrossEntropyWithLogits";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (predictions [n, c], targets int32 or int64 [n]) -> is the target's prediction among the greatest k of its row? Only
// strictly greater ones come before it. False if the target is no class, or a prediction met is not finite. bool; its
// kernel is therefore declared for bool. Attribute "k".
struct in_top_k {
  static constexpr std::string_view name = "InTopK";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}};
  static constexpr std::string_view no_gradient = "whether a target is among the top k is a step function";
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/nn/op.ipp>
#endif

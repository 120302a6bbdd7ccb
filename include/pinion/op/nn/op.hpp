// Ops of classification: softmax, cross entropies with logits, and whether a target is among the top k.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_floating(const shape_context& c, int i, std::string_view what);

void expect_index(const shape_context& c, int i, std::string_view what);

// Extent `axis` of input i; unknown where its rank is not known.
std::int64_t extent_of(const shape_context& c, int i, int axis);

// The number of rows that two inputs have in common. Fails where both are known and differ.
std::int64_t common_rows(const shape_context& c, int a, int b);

void infer_softmax(shape_context& c);

// The sum along the last axis, which stays with extent 1.
output row_sum(gradient_context& g, output x);

}  // namespace detail

struct softmax_like {
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  // Counts a maximum, a difference, an exponential, a sum and a quotient per element.
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
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

namespace detail {

output sum_of(gradient_context& g, output a, output b);

// The gradient of a cross entropy by its logits. That of the loss is output 1 times the loss's gradient in each row.
// That of output 1 itself, softmax(logits) - labels, is (dy - sum(dy p)) p with p = softmax(logits).
output gradient_by_logits(gradient_context& g);

}  // namespace detail

// (labels, logits), both [n, c] -> the loss [n] of each row, -sum(labels log_softmax(logits)), and its gradient by the
// logits, softmax(logits) - labels. A label of 0 contributes 0, even where its logit is infinite.
struct softmax_cross_entropy {
  static constexpr std::string_view name = "SoftmaxCrossEntropyWithLogits";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (labels int32 or int64 [n], logits [n, c]) -> the same for a label of weight 1 at class labels[i] of row i. A label
// outside [0, c) fails the step.
struct sparse_softmax_cross_entropy {
  static constexpr std::string_view name = "SparseSoftmaxCrossEntropyWithLogits";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (predictions [n, c], targets int32 or int64 [n]) -> bool [n]: whether fewer than "k" predictions of the row are
// strictly greater than that of the target. False where the target is no class, or where a prediction read is not
// finite. The kernel is declared for bool, the dtype of output 0.
struct in_top_k {
  static constexpr std::string_view name = "InTopK";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("k")};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}};
  static constexpr std::string_view no_gradient = "whether a target is among the top k is a step function";
  static void infer(shape_context& c);
};

// Throws invalid_argument for a rate of dropout outside of [0, 1).
void expect_dropout_rate(double rate);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/nn/op.ipp>
#endif

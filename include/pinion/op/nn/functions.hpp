// Functions of neural networks: softmax, losses, biases, dropout. Logits are float or double.
//
//   auto losses = pn::sparse_softmax_cross_entropy_with_logits(labels, logits);    // [n], [n, c] -> [n]
//   auto loss = pn::reduce_mean(losses);
//   auto accuracy = pn::reduce_mean(pn::cast<float>(pn::in_top_k(logits, labels)));
//
// Softmax and the cross entropies subtract the maximum of each row first, so they do not overflow. The functions are
// differentiable by logits, x and bias, not by labels that are class numbers; in_top_k has no gradient.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/random/functions.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/scalar/functors_of_maths.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
// softmax is e^x / sum(e^x) along the last axis, and log_softmax its logarithm. The result has the operand's shape. A
// scalar throws invalid_argument. A row that holds NaN, or infinity as its greatest element, is NaN; other rows are not
// touched by it. log_softmax is exact where softmax is too small for its dtype, so losses are computed from it.
//
//   auto p = pn::softmax(logits);                         // [n, c] -> [n, c], rows that add up to 1
template <graph_operand A>
auto softmax(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return node_call<op::softmax, value_of<A>>(name, where, {}, std::forward<A>(x));
}
template <graph_operand A>
auto log_softmax(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return node_call<op::log_softmax, value_of<A>>(name, where, {}, std::forward<A>(x));
}
}  // namespace dsl
PINION_AS_OBJECT(softmax)
PINION_AS_OBJECT(log_softmax)

// The cross entropy of each row, -sum(labels log softmax(logits)). Labels [n, c] are distributions, logits are [n, c],
// and the result is [n]. Throws invalid_argument where the shapes do not agree. Logits are the numbers before softmax;
// a softmax in front of this function makes a wrong loss. The labels of a row are expected to add up to 1, which is not
// checked. A label of 0 contributes 0 also where its probability is 0. The gradient by logits is softmax(logits) -
// labels, by the incoming one; the gradient by labels is -log_softmax(logits), so put a pn::constant or a placeholder
// there, or take no gradient by it. TensorFlow: tf.nn.softmax_cross_entropy_with_logits_v2.
template <dsl::graph_operand L, dsl::graph_operand A>
auto softmax_cross_entropy_with_logits(L&& labels, A&& logits, std::string_view name = {},
                                       source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<L>, dsl::value_of<A>>,
                "labels and logits have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::softmax_cross_entropy, dsl::value_of<A>>(name, where, {}, std::forward<L>(labels),
                                                                     std::forward<A>(logits));
}
// The cross entropy of each row for labels that are class numbers, int32 or int64: labels [n], logits [n, c] -> [n]. A
// label outside [0, c) fails the step. The loss is -log_softmax(logits)[label]. It takes the place of one_hot labels,
// and reads one number a row in theirs. Throws invalid_argument where labels are no vector, logits no matrix, or their
// rows differ in number. The failure of the step has code invalid_argument, and names the label and the row.
//
//   auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(labels, logits));
template <dsl::graph_operand L, dsl::graph_operand A>
auto sparse_softmax_cross_entropy_with_logits(L&& labels, A&& logits, std::string_view name = {},
                                              source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<L>>),
                "labels are class numbers, int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::sparse_softmax_cross_entropy, dsl::value_of<A>>(name, where, {}, std::forward<L>(labels),
                                                                            std::forward<A>(logits));
}
// The cross entropy of each element, where labels are probabilities of yes, and logits the numbers before sigmoid:
// max(x, 0) - x z + log(1 + e^-|x|) of a logit x and a label z, which does not overflow. Both are float or double of
// one dtype, and broadcast. The gradients are sigmoid(x) - z by logits and -x by labels. TensorFlow:
// tf.nn.sigmoid_cross_entropy_with_logits, which does not broadcast.
template <dsl::graph_operand L, dsl::graph_operand A>
auto sigmoid_cross_entropy_with_logits(L&& labels, A&& logits, std::string_view name = {},
                                       source_location where = source_location::current()) {
  return dsl::map_own<scalar::functor::logistic_loss>(name, where, std::forward<L>(labels), std::forward<A>(logits));
}
// Tells for each row whether its target is among the k greatest predictions: [n, c] and [n] -> bool [n]. False where
// the target is no class of the row. A target counts unless k predictions of its row are greater, so equal ones do not
// push each other out. False as well where a prediction that has to be read is NaN or infinite (TensorFlow's rule,
// tf.nn.in_top_k). Predictions are float or double, targets int32 or int64.
//
//   auto top5 = pn::reduce_mean(pn::cast<float>(pn::in_top_k(logits, labels, 5)));
template <dsl::graph_operand A, dsl::graph_operand L>
auto in_top_k(A&& predictions, L&& targets, std::int64_t k = 1, std::string_view name = {},
              source_location where = source_location::current()) {
  return dsl::node_call<op::in_top_k, bool>(name, where, {{"k", k}}, std::forward<A>(predictions),
                                            std::forward<L>(targets));
}

// The sum of x [..., c] and a bias [c], which fuses like any addition. Throws invalid_argument for a bias that is no
// vector. The gradient by the bias is summed over all axes but the last. In an expression bias_add(x, b) and x + b
// compute the same; the name of the node, "BiasAdd", tells a reader which it is.
template <dsl::graph_operand A, dsl::graph_operand B>
auto bias_add(A&& x, B&& bias, std::string_view name = {}, source_location where = source_location::current()) {
  const shape extent = bias.shape();
  if (extent.has_rank() && extent.rank() != 1)
    throw error(errc::invalid_argument,
                "the bias of bias_add has one axis, but '" + bias.name() + "' has shape " + to_string(extent));
  return dsl::map_same<op::bias_add>(name, where, std::forward<A>(x), std::forward<B>(bias));
}

// Options of dropout. The random numbers are those of random_uniform with this seed. The name is that of a name scope
// around the nodes.
struct dropout_options {
  double rate = .5;       // probability of an element to become 0, in [0, 1)
  std::int64_t seed = 0;  // 0: another one in each session
  std::string_view name = "dropout";
};
// Sets each element to 0 with probability `rate`, and divides it by 1 - rate otherwise, so that the expected sum stays
// the same. Each run draws anew. float, double. Throws invalid_argument for a rate outside [0, 1). Sources: Hinton et
// al. 2012; Srivastava et al. 2014, whose form leaves prediction unchanged. This function drops in every step, when a
// model is used too: nn::dropout asks a flag, and is the layer to take. The gradient is that of the elements kept, by
// the same draw. A rate of 0 yields x. TensorFlow: tf.nn.dropout.
//
//   auto h = pn::dropout(pn::relu(x), {.rate = .4, .seed = 1});
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dropout(A&& x, const dropout_options& options = {},
                               source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  op::expect_dropout_rate(options.rate);
  const called_from line(where);
  const name_scope scope{options.name};
  const expr<T> kept = x;
  if (options.rate == 0) return identity(kept, {}, where);
  const auto drawn = dsl::random_like<op::random_uniform>(kept, {{"seed", options.seed}}, where);
  return select(drawn >= static_cast<T>(options.rate), kept * static_cast<T>(1 / (1 - options.rate)), T(0), {}, where);
}

}}  // namespace pinion::v0

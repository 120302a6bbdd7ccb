// Connectionist temporal classification (Graves et al. 2006): a loss of sequences whose labels have no known places in
// time, as in speech and handwriting, and the labels that logits stand for. On CPUs.
//
//   auto losses = pn::ctc_loss(labels, logits, {.label_lengths = n, .logit_lengths = t});      // [batch]
//   auto [found, count, score] = pn::ctc_greedy_decoder(logits, {.logit_lengths = t, .blank = 0});
//
// <pinion/train.hpp> brings this header, <pinion/graph.hpp> does not.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/ctc/op.hpp>
#include <pinion/op/elementwise/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of ctc_loss. Lengths are int32 or int64 [batch]: how many labels, and how many steps, each row has; without
// them a row has all. `blank` is the class of no label; a negative one counts from the last. By `zero_infinity` the
// loss of labels that do not fit is 0 instead of infinity.
struct ctc_loss_options {
  any_expr label_lengths = {};
  any_expr logit_lengths = {};
  std::int64_t blank = 0;
  bool zero_infinity = false;
  std::string_view name = {};
};

// Options of ctc_greedy_decoder. `logit_lengths` and `blank` are as in ctc_loss; without merge_repeated each step of a
// class is a label of its own.
struct ctc_decoder_options {
  any_expr logit_lengths = {};
  bool merge_repeated = true;
  std::int64_t blank = -1;
  std::string_view name = {};
};

// The result of ctc_greedy_decoder.
template <element T>
struct ctc_decoded {
  expr<std::int64_t> labels;   // [batch, time], with -1 behind the last label of a row
  expr<std::int64_t> lengths;  // [batch], the number of labels
  expr<T> neg_sum_logits;      // [batch, 1], minus the sum of the greatest logits of the row's steps
};

namespace dsl {
// Makes the nodes.
output make_ctc_loss(graph& g, output labels, output logits, const ctc_loss_options& options, source_location where);
output make_ctc_decoder(graph& g, output logits, const ctc_decoder_options& options, source_location where);
}  // namespace dsl

// The loss of each row, [batch]: minus the logarithm of the probability of its labels, which is the sum over all paths
// of one class a step that become the labels where repeated classes are merged and blanks left out. Labels are int32 or
// int64 [batch, most]; logits are float or double [time, batch, classes], the numbers before softmax, whose logarithms
// the node takes itself. Sums are of logarithms, in double. The loss is infinite where there is no such path, since a
// row has more labels, with one step between two that are equal, than steps; its gradient is 0 then.
//
// Throws invalid_argument for other dtypes and shapes, and for a blank that is no class. The step fails, with code
// invalid_argument, for a label that is no class or the blank, and for lengths outside the tensors; labels and logits
// behind their lengths are not looked at. The gradient by the logits is exact, softmax(logits) less the part of all
// paths that go through each class, and 0 behind the lengths; it comes with the loss from one node. There is no second
// gradient, as in TensorFlow. TensorFlow: tf.nn.ctc_loss (version 2, with dense labels and logits_time_major); PyTorch:
// torch.nn.functional.ctc_loss, with reduction "none" and of log_softmax(logits). TensorFlow's node of this name has
// sparse labels instead.
//
//   auto loss = pn::reduce_mean(pn::ctc_loss(labels, logits, {.logit_lengths = steps, .zero_infinity = true}));
template <dsl::graph_operand L, dsl::graph_operand A>
expr<dsl::value_of<A>> ctc_loss(const L& labels, const A& logits, const ctc_loss_options& options = {},
                                source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<L>>),
                "labels are class numbers, int32 or int64; pn::cast<int>(x) converts");
  dsl::check_floating<A>();
  graph& g = dsl::graph_of(labels, logits);
  return expr<dsl::value_of<A>>(g, dsl::make_ctc_loss(g, dsl::endpoint_of(labels, where).endpoint(g),
                                                      dsl::endpoint_of(logits, where).endpoint(g), options, where));
}

// The labels of the most probable path of each row: the classes of the greatest logits, without repeated ones and
// blanks. A blank between two steps of a class makes two labels of it. Logits are float or double [time, batch,
// classes]. Errors are those of ctc_loss. No gradient. TensorFlow: tf.nn.ctc_greedy_decoder, whose blank is the last
// class unless told otherwise, too, and whose labels are a sparse tensor.
template <dsl::graph_operand A>
ctc_decoded<dsl::value_of<A>> ctc_greedy_decoder(const A& logits, const ctc_decoder_options& options = {},
                                                 source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const any_expr x = dsl::endpoint_of(logits, where);
  graph& g = x.owner();
  const node_id made = dsl::make_ctc_decoder(g, x.endpoint(g), options, where).node;
  return {expr<std::int64_t>(g, {made, 0}), expr<std::int64_t>(g, {made, 1}), expr<T>(g, {made, 2})};
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/ctc/functions.ipp>
#endif

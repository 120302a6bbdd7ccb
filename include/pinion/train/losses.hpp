// Losses: scalars that training makes small. Each function here compares predictions with labels, weights the result,
// reduces it to a scalar, and adds it to the graph's collection "losses".
//
//   const auto loss = tr::softmax_cross_entropy(labels, logits) + .. ;      // or all of them: tr::get_total_loss()
//   tr::mean_squared_error(y, x, {.weights = .5});                          // half of it
//   tr::mean_squared_error(y, x, {.weights = mask, .reduction = tr::reduction::sum});
//
// Formulas: TensorFlow 1.15, python/ops/losses/losses_impl.py. Labels and predictions have one dtype, float or double
// (a compile error otherwise), and one shape (invalid_argument otherwise, as far as the shapes are known when the graph
// is built).
//
//   regression                   mean_squared_error, absolute_difference, huber_loss
//   yes or no for each element   sigmoid_cross_entropy, hinge_loss (logits); log_loss (probabilities)
//   one class for each row       softmax_cross_entropy (distributions), sparse_softmax_cross_entropy (class numbers)
//   small weights                l2_regularizer
//   embeddings                   cosine_distance, contrastive_loss, info_nce (<pinion/train/embedding_losses.hpp>)
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/dsl/number_or_expression.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/nn/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/train/formula.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The way from the losses of the elements to the result. n is the number of losses, and w are the weights broadcast to
// them.
//
//   losses 1, 2, 3, 6 with weights 1, 1, 0, 3:        none 1, 2, 0, 18        sum 21
//   mean 21 / 5        sum_over_batch_size 21 / 4     sum_by_nonzero_weights 21 / 3
enum class reduction {
  none,                    // no reduction: the weighted loss of each element, or of each row where classes are compared
  sum,                     // the sum of the weighted losses
  mean,                    // the weighted losses' sum, divided by the sum of w; 0 if that is 0
  sum_over_batch_size,     // the weighted losses' sum, divided by n
  sum_by_nonzero_weights,  // the weighted losses' sum, divided by how many w are not 0; 0 if none is
};

// The weight of each loss: a number, or a numeric expression that broadcasts to the losses. A mask of 0 and 1 leaves
// elements out, such as the padding of sequences: {.weights = mask}.
using loss_weights = number_or_expression;

// The options that all losses share.
struct loss_options {
  // Multiplied with the losses before they are reduced. A weight of 0 leaves a loss out.
  loss_weights weights = 1;
  // The reduction; by default the mean over the losses whose weights are not 0.
  train::reduction reduction = reduction::sum_by_nonzero_weights;
};

namespace detail {

// Adds a loss to a collection of its graph.
inline void collect(const char* collection, const any_expr& loss) {
  graph& g = loss.owner();
  g.add_to_collection(collection, loss.id(g));
}
// Throws invalid_argument, in the name of a loss, if the known parts of the two shapes differ.
void expect_same_shape(const char* loss, const any_expr& labels, const any_expr& predictions);

// sum / n, but 0 if n is 0. The divisor is replaced before the division, so that gradients stay finite too.
template <class T>
expr<T> safe_quotient(const expr<T>& sum, const expr<T>& n) {
  const expr<T> divisor = select(equal(n, T(0)), T(1), n);
  return select(equal(n, T(0)), T(0), sum / divisor);
}

// A tensor of ones with the shape of x.
template <class T>
expr<T> ones_like(const expr<T>& x) {
  return dsl::node_call<op::ones_like, T>({}, {}, {}, x);
}

// Weights the losses by a number and reduces them.
template <class T>
expr<T> weighted_by_number(const expr<T>& losses, double weight, reduction how) {
  const T w = static_cast<T>(weight);
  switch (how) {
    case reduction::none: return losses * w;
    case reduction::sum: return reduce_sum(losses) * w;
    default: break;
  }
  const expr<T> count = reduce_sum(ones_like(losses));
  const expr<T> mean = safe_quotient<T>(reduce_sum(losses), count);
  if (how == reduction::mean) return mean * (w == 0 ? T(0) : T(1));
  return mean * w;
}

// Weights the losses by an expression and reduces them. Throws invalid_argument if the weights do not broadcast to
// the losses.
template <class T>
expr<T> weighted_by(const expr<T>& losses, const any_expr& weights, reduction how) {
  const shape &of_losses = losses.shape(), &of_weights = weights.shape();
  shape wider;
  if (of_losses.has_rank() && of_weights.has_rank() &&
      (!broadcast(of_losses, of_weights, wider) || !fits(wider, of_losses)))
    throw error(errc::invalid_argument, "weights of shape " + to_string(of_weights) +
                                            " do not broadcast to losses of shape " + to_string(of_losses));
  const auto w = dsl::as_typed<expr<T>>(as_dtype(weights, dtype_of<T>));
  const expr<T> weighted = losses * w;
  if (how == reduction::none) return weighted;
  const expr<T> sum = reduce_sum(weighted), each = ones_like(losses);
  if (how == reduction::sum) return sum;
  const expr<T> n = how == reduction::mean ? expr<T>(reduce_sum(each * w))
                    : how == reduction::sum_over_batch_size
                        ? expr<T>(reduce_sum(each))
                        : expr<T>(reduce_sum(select(not_equal(w, T(0)), each, T(0))));
  return safe_quotient(sum, n);
}

}  // namespace detail

// Weights and reduces losses that the caller has computed, and adds the result to the collection "losses". Losses of
// any shape become a scalar; with reduction::none they keep their shape. Throws invalid_argument if the weights do not
// broadcast to the losses.
//
//   auto loss = tr::compute_weighted_loss<float>(abs(x - y) * abs(x - y), {.weights = w});
//
// The weights are cast to the dtype of the losses. A gradient flows to weights that are computed from variables.
template <element T>
expr<T> compute_weighted_loss(const expr<T>& losses, const loss_options& o = {},
                              source_location where = source_location::current()) {
  dsl::check_floating<expr<T>>();
  const called_from line(where);
  const expr<T> loss = o.weights.is_number() ? detail::weighted_by_number(losses, o.weights.number(), o.reduction)
                                             : detail::weighted_by(losses, o.weights.expression(), o.reduction);
  detail::collect("losses", loss);
  return loss;
}

// Adds a loss of the caller's own to the collection "losses" as it is, for get_total_loss() to count. It should be a
// scalar, since the losses are added up.
//
//   tr::add_loss(pn::expr<float>(pn::reduce_sum(pn::abs(W)) * .001f));         // an L1 penalty
template <element T>
void add_loss(const expr<T>& loss) {
  detail::collect("losses", loss);
}

// The losses below take labels and predictions of one shape and dtype, and return the reduced loss: a scalar, or, with
// reduction::none, a tensor of their shape.
#define PINION_LOSS(name, scope_name, formula)                                                   \
  template <dsl::graph_operand L, dsl::graph_operand P>                                          \
  expr<dsl::value_of<P>> name(const L& labels, const P& predictions, const loss_options& o = {}, \
                              source_location where = source_location::current()) {              \
    using T = dsl::value_of<P>;                                                                  \
    static_assert(dsl::same_dtype<dsl::value_of<L>, T>,                                          \
                  "labels and predictions have different dtypes; pn::cast<T>(x) converts");      \
    dsl::check_floating<P>();                                                                    \
    const called_from line(where);                                                               \
    const name_scope scope(scope_name);                                                          \
    const expr<T> y = labels, x = predictions;                                                   \
    detail::expect_same_shape(#name, y, x);                                                      \
    return compute_weighted_loss<T>(formula, o);                                                 \
  }
// The squared error (x - y)^2 of predictions x and labels y, by default its mean. It suits regression; its gradient
// grows with the error.
PINION_LOSS(mean_squared_error, "mean_squared_error", square(x - y))
// The absolute difference |x - y| of predictions x and labels y. An outlier pulls no more than any other error.
PINION_LOSS(absolute_difference, "absolute_difference", abs(x - y))
// The hinge loss, max(0, 1 - x (2 y - 1)), of a classifier between two classes. Labels y are 0 or 1, predictions x are
// logits. An example that is right by a margin of 1 costs nothing.
PINION_LOSS(hinge_loss, "hinge_loss", relu(T(1) - x * (y * T(2) - T(1))))
// The log loss, -y log(x + 1e-7) - (1 - y) log(1 - x + 1e-7). Predictions x are probabilities; the 1e-7 keeps the
// logarithms finite. For logits sigmoid_cross_entropy is more exact.
PINION_LOSS(log_loss, "log_loss",
            -y* log(x + static_cast<T>(1e-7)) - (T(1) - y) * log((T(1) + static_cast<T>(1e-7)) - x))
#undef PINION_LOSS

// The cross entropy of independent classes, log(1 + e^x) - x y, where each element is a yes or no of its own. This form
// neither overflows nor loses small terms. Labels y are probabilities, predictions x are logits. Label smoothing moves
// this part of each label to one half: y (1 - smoothing) + smoothing / 2. TensorFlow: tf.losses.sigmoid_cross_entropy.
//
//   auto loss = tr::sigmoid_cross_entropy(y, logits, {}, .1);                  // labels of 0 and 1 count as .05 and
//   .95
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> sigmoid_cross_entropy(const L& labels, const P& logits, const loss_options& o = {},
                                             double label_smoothing = 0,
                                             source_location where = source_location::current()) {
  using T = dsl::value_of<P>;
  static_assert(dsl::same_dtype<dsl::value_of<L>, T>,
                "labels and predictions have different dtypes; pn::cast<T>(x) converts");
  dsl::check_floating<P>();
  const called_from line(where);
  const name_scope scope("sigmoid_cross_entropy_loss");
  expr<T> y = labels;
  const expr<T> x = logits;
  detail::expect_same_shape("sigmoid_cross_entropy", y, x);
  if (label_smoothing != 0) y = y * static_cast<T>(1 - label_smoothing) + static_cast<T>(label_smoothing / 2);
  return compute_weighted_loss<T>(softplus(x) - x * y, o);
}

// The Huber loss (Huber 1964): x^2 / 2 for errors x up to delta, and delta |x| - delta^2 / 2 beyond. A large error
// counts linearly, so that outliers weigh less. Throws invalid_argument unless delta is positive.
//
//   auto loss = tr::huber_loss(y, x, 1.5);                                     // errors above 1.5 count linearly
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> huber_loss(const L& labels, const P& predictions, double delta = 1, const loss_options& o = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<P>;
  static_assert(dsl::same_dtype<dsl::value_of<L>, T>,
                "labels and predictions have different dtypes; pn::cast<T>(x) converts");
  dsl::check_floating<P>();
  if (!(delta > 0))
    throw error(errc::invalid_argument, "huber_loss with delta " + number_text(delta) + "; it must be positive");
  const called_from line(where);
  const name_scope scope("huber_loss");
  const expr<T> y = labels, x = predictions;
  detail::expect_same_shape("huber_loss", y, x);
  const expr<T> off = abs(x - y);
  const expr<T> near = minimum(off, static_cast<T>(delta));
  return compute_weighted_loss<T>(square(near) * T(.5) + (off - near) * static_cast<T>(delta), o);
}

// The cross entropy of exclusive classes. Labels [n, c] are distributions over c classes, logits are [n, c]; there is
// one loss a row, and weights broadcast to [n]. Label smoothing moves this part of each label to all classes evenly: y
// (1 - smoothing) + smoothing / c. Throws invalid_argument if smoothing is wanted and the number of classes is not
// known.
//
//   auto loss = tr::softmax_cross_entropy(pn::one_hot<float>(digits, 10), logits, {}, .1);
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> softmax_cross_entropy(const L& onehot_labels, const P& logits, const loss_options& o = {},
                                             double label_smoothing = 0,
                                             source_location where = source_location::current()) {
  using T = dsl::value_of<P>;
  const called_from line(where);
  const name_scope scope("softmax_cross_entropy_loss");
  expr<T> y = onehot_labels;
  const expr<T> x = logits;
  detail::expect_same_shape("softmax_cross_entropy", y, x);
  if (label_smoothing != 0) {
    if (x.shape().rank() != 2 || x.shape()[1] < 1)
      throw error(errc::invalid_argument, "label smoothing needs the number of classes, but '" + x.name() +
                                              "' has shape " + to_string(x.shape()));
    y = y * static_cast<T>(1 - label_smoothing) + static_cast<T>(label_smoothing / static_cast<double>(x.shape()[1]));
  }
  return compute_weighted_loss<T>(softmax_cross_entropy_with_logits(y, x), o);
}
// The cross entropy of exclusive classes with labels as class numbers: labels [n] of int32 or int64, logits [n, c] of
// float or double. There is one loss a row, and weights broadcast to [n].
//
//   auto loss = tr::sparse_softmax_cross_entropy(digits, logits);
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> sparse_softmax_cross_entropy(const L& labels, const P& logits, const loss_options& o = {},
                                                    source_location where = source_location::current()) {
  const called_from line(where);
  const name_scope scope("sparse_softmax_cross_entropy_loss");
  return compute_weighted_loss<dsl::value_of<P>>(sparse_softmax_cross_entropy_with_logits(labels, logits), o);
}

// The L2 regularizer: scale sum(w^2) / 2 of each variable that it is called with. Each result joins the collection
// "regularization_losses", which get_total_loss() counts. A value.
//
//   auto decay = tr::l2_regularizer{.01};
//   decay(W);
struct l2_regularizer {
  // The factor of the sum of squares.
  double scale;
  // Adds the loss of a variable to the collection, and returns it. The variable's gradient gets the term scale w.
  template <dsl::graph_operand W>
  expr<dsl::value_of<W>> operator()(const W& w, source_location where = source_location::current()) const {
    using T = dsl::value_of<W>;
    const called_from line(where);
    const name_scope scope("l2_regularizer");
    const expr<T> loss = reduce_sum(square(w)) * static_cast<T>(scale / 2);
    detail::collect("regularization_losses", loss);
    return loss;
  }
};

// The sum of all losses in the default graph's collection "losses" and, unless it is told not to, in
// "regularization_losses": a scalar named "total_loss". Throws invalid_argument if there are no losses, or if one has
// another dtype than T.
//
//   auto train = tr::adam{{.learning_rate = .001}}.minimize(tr::get_total_loss(), {.global_step = step});
//
// Call it after the last loss is made.
template <element T = float>
expr<T> get_total_loss(bool add_regularization_losses = true, source_location where = source_location::current()) {
  const called_from line(where);
  graph& g = default_graph();
  expr<T> total;
  const auto add_all = [&](const char* collection) {
    for (const node_id id : g.collection(collection)) {
      const output loss{id, 0};
      if (g.type_of(loss).dtype != dtype_of<T>)
        throw error(errc::invalid_argument, "get_total_loss: '" + g[id].name + "' is " +
                                                std::string(to_string(g.type_of(loss).dtype)) + ", not " +
                                                std::string(to_string(dtype_of<T>)));
      total = total.empty() ? expr<T>(g, loss) : expr<T>(total + expr<T>(g, loss));
    }
  };
  add_all("losses");
  if (add_regularization_losses) add_all("regularization_losses");
  if (total.empty()) throw error(errc::invalid_argument, "get_total_loss: the graph has no losses");
  return identity(total, "total_loss");
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/losses.ipp>
#endif

// Losses of embeddings, which are vectors that stand for things: near each other where the things are alike.
//
//   auto loss = tr::cosine_distance(unit, pn::l2_normalize(x, {.axes = {-1}}), {.axis = -1});
//   auto pairs = tr::contrastive_loss(alike, a, b, {.margin = .5});
//   auto batch = tr::info_nce(pn::l2_normalize(images, {.axes = {-1}}), pn::l2_normalize(texts, {.axes = {-1}}));
//
// Each has the weights and the reduction of <pinion/train/losses.hpp>, and joins the collection "losses". Embeddings
// are float or double of one dtype (a compile error otherwise). None of them makes vectors of length 1; where a loss
// expects such, pn::l2_normalize makes them.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/order/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/train/losses.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of cosine_distance.
struct cosine_distance_options {
  // The axis along which the vectors lie. A negative one counts from the end.
  int axis = -1;
  // The weights broadcast to the losses, which have extent 1 along the axis.
  loss_weights weights = 1;
  train::reduction reduction = reduction::sum_by_nonzero_weights;
};

// The options of contrastive_loss.
struct contrastive_options {
  // The distance at which a pair that is not alike costs nothing.
  double margin = 1;
  // The weights broadcast to the losses, [n].
  loss_weights weights = 1;
  train::reduction reduction = reduction::sum_by_nonzero_weights;
};

// The options of info_nce.
struct info_nce_options {
  // Similarities are divided by it: a positive number, or an expression that broadcasts to them, such as a scalar of a
  // variable that is trained.
  number_or_expression temperature = .07;
  // The weights broadcast to the losses, [n].
  loss_weights weights = 1;
  train::reduction reduction = reduction::sum_by_nonzero_weights;
};

namespace detail {

// Throws invalid_argument unless two embeddings may be matrices of one shape.
void expect_pairs(const char* loss, const any_expr& a, const any_expr& b);
// Throws invalid_argument, in the name of a loss, unless an option is a positive number.
void expect_positive(const char* loss, const char* option, double number);

// The root of a sum of squares. Its gradient is 0 where the sum is.
template <class T>
expr<T> distance_of(const expr<T>& squares) {
  const expr<T> positive = select(equal(squares, T(0)), T(1), squares), root = sqrt(positive);
  return select(equal(squares, T(0)), T(0), root);
}

// The numbers 0, 1, ... of the rows of a matrix.
template <class T>
expr<std::int64_t> row_numbers(const expr<T>& x) {
  if (const shape& s = x.shape(); s.has_rank() && s[0] >= 0) return range<std::int64_t>(s[0]);
  const expr<std::int64_t> ones = cast<std::int64_t>(ones_like<T>(reduce_sum(x, 1)));
  return cumsum(ones, 0, {.exclusive = true});
}

// Similarities over the temperature.
template <class T>
expr<T> over_temperature(const expr<T>& x, const number_or_expression& temperature) {
  if (temperature.is_number()) return x / static_cast<T>(temperature.number());
  return x / dsl::as_typed<expr<T>>(as_dtype(temperature.expression(), dtype_of<T>));
}

}  // namespace detail

// The cosine distance, 1 - sum(labels * predictions) along an axis, which keeps extent 1. Labels and predictions have
// one shape and are vectors of length 1 along the axis; lengths are not divided by, as in TensorFlow. Throws
// invalid_argument where the shapes differ, and for an axis that they lack. TensorFlow: tf.losses.cosine_distance,
// which has no default for the axis.
//
//   auto loss = tr::cosine_distance(y, pn::l2_normalize(x, {.axes = {1}}), {.axis = 1});
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> cosine_distance(const L& labels, const P& predictions, const cosine_distance_options& o = {},
                                       source_location where = source_location::current()) {
  using T = dsl::value_of<P>;
  static_assert(dsl::same_dtype<dsl::value_of<L>, T>,
                "labels and predictions have different dtypes; pn::cast<T>(x) converts");
  dsl::check_floating<P>();
  const called_from line(where);
  const name_scope scope("cosine_distance_loss");
  const expr<T> y = labels, x = predictions;
  detail::expect_same_shape("cosine_distance", y, x);
  const expr<T> along = reduce_sum(x * y, {.axes = {o.axis}, .keep_dims = true});
  return compute_weighted_loss<T>(T(1) - along, {.weights = o.weights, .reduction = o.reduction});
}

// The contrastive loss of pairs of embeddings, [n, d] each: d^2 for a pair that is alike, and max(margin - d, 0)^2 for
// one that is not, where d is the distance of the two (Hadsell, Chopra, LeCun 2006). Labels [n] are 1 for a pair that
// is alike, 0 for one that is not, of any numeric dtype or bool; numbers between them mix both terms. By default the
// mean over the pairs. The gradient of a pair that is not alike is 0 where its embeddings are equal, since it has no
// direction there. Throws invalid_argument unless the embeddings are matrices of one shape, and labels fit [n].
// TensorFlow: tf.contrib.losses.metric_learning.contrastive_loss, whose gradient is NaN there.
//
//   auto loss = tr::contrastive_loss(alike, nn::dense(a, 32), nn::dense(b, 32), {.margin = .5});
template <dsl::graph_operand L, dsl::graph_operand A, dsl::graph_operand B>
expr<dsl::value_of<A>> contrastive_loss(const L& labels, const A& anchors, const B& others,
                                        const contrastive_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<dsl::value_of<B>, T>,
                "the embeddings have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope("contrastive_loss");
  const expr<T> a = anchors, b = others;
  detail::expect_pairs("contrastive_loss", a, b);
  const expr<T> alike = cast<T>(labels), squares = reduce_sum(square(a - b), 1);
  detail::expect_same_shape("contrastive_loss", alike, squares);
  const expr<T> lacking = static_cast<T>(o.margin) - detail::distance_of(squares), pushed = relu(lacking);
  const expr<T> far = square(pushed);
  return compute_weighted_loss<T>(alike * squares + (T(1) - alike) * far,
                                  {.weights = o.weights, .reduction = o.reduction});
}

// The contrastive loss within a batch: row i of a belongs to row i of b, and all other rows are what it is told from.
// The loss of row i is the mean of two cross entropies for class i, of row i and of column i of the logits [n, n],
// a b^T / temperature. InfoNCE is by van den Oord, Li and Vinyals (2018); this symmetric form is that of CLIP (Radford
// et al. 2021). Embeddings are [n, d], of length 1 where similarities are meant to be cosines. By default the mean over
// the rows; n may be unknown. Throws invalid_argument unless the embeddings are matrices of one shape, and for a
// temperature that is a number and not positive. TensorFlow has no such function.
//
//   auto heat = pn::exp(pn::variable(std::log(.07f), {.name = "heat"}));
//   auto loss = tr::info_nce(images, texts, {.temperature = heat});
template <dsl::graph_operand A, dsl::graph_operand B>
expr<dsl::value_of<A>> info_nce(const A& a, const B& b, const info_nce_options& o = {},
                                source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<dsl::value_of<B>, T>,
                "the embeddings have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope("info_nce_loss");
  const expr<T> x = a, y = b;
  detail::expect_pairs("info_nce", x, y);
  if (o.temperature.is_number()) detail::expect_positive("info_nce", "temperature", o.temperature.number());
  const expr<T> logits = detail::over_temperature<T>(matmul(x, y, {.transpose_b = true}), o.temperature);
  const expr<std::int64_t> row = detail::row_numbers(logits);
  const expr<T> of_rows = sparse_softmax_cross_entropy_with_logits(row, logits);
  const expr<T> of_columns = sparse_softmax_cross_entropy_with_logits(row, transpose(logits, {1, 0}));
  return compute_weighted_loss<T>((of_rows + of_columns) * T(.5), {.weights = o.weights, .reduction = o.reduction});
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/embedding_losses.ipp>
#endif

// Losses: what a model is trained to make small, weighted, reduced to a scalar, and remembered by the graph.
//
//   const auto loss = tr::softmax_cross_entropy(labels, logits) + .. ;      // or all of them: tr::get_total_loss()
//
// Each joins the graph's collection "losses". Formulas: TensorFlow 1.15, python/ops/losses/losses_impl.py. Labels and
// predictions are of one dtype, float or double, and of one shape; invalid_argument otherwise.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/elementwise/spelling.hpp>
#include <pinion/op/matmul/spelling.hpp>
#include <pinion/op/nn/spelling.hpp>
#include <pinion/op/reduce/spelling.hpp>
#include <pinion/train/formula.hpp>
#include <pinion/train/number_or_expression.hpp>

namespace pinion { inline namespace v0 { namespace train {

enum class reduction {
  none,                    // a loss for each element, or for each row of a cross entropy of classes
  sum,                     // weighted
  mean,                    // the sum over the sum of the weights
  sum_over_batch_size,     // the sum over the number of losses
  sum_by_nonzero_weights,  // the sum over the number of losses that count
};

// How much each loss counts: a number, or an expression that broadcasts to the losses.
using loss_weights = number_or_expression;

struct loss_options {
  loss_weights weights = 1;
  train::reduction reduction = reduction::sum_by_nonzero_weights;
};

namespace detail {

void expect_same_shape(const char* loss, const any_expr& labels, const any_expr& predictions);

// sum / n, and 0 where n is 0.
template <class T>
expr<T> safe_quotient(const expr<T>& sum, const expr<T>& n) {
  const expr<T> divisor = select(equal(n, T(0)), T(1), n);
  return select(equal(n, T(0)), T(0), sum / divisor);
}

template <class T>
expr<T> ones_like(const expr<T>& x) {
  return dsl::node_call<op::ones_like, T>({}, {}, {}, x);
}

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

// The losses weighted and reduced; joins the collection "losses".
template <element T>
expr<T> compute_weighted_loss(const expr<T>& losses, const loss_options& o = {},
                              source_location where = source_location::current()) {
  dsl::check_floating<expr<T>>();
  const called_from line(where);
  const expr<T> loss = o.weights.is_number() ? detail::weighted_by_number(losses, o.weights.number(), o.reduction)
                                             : detail::weighted_by(losses, o.weights.expression(), o.reduction);
  loss.owner().add_to_collection("losses", loss.id());
  return loss;
}

// A loss of one's own for get_total_loss(); as it is.
template <element T>
void add_loss(const expr<T>& loss) {
  loss.owner().add_to_collection("losses", loss.id());
}

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
// (x - y)^2
PINION_LOSS(mean_squared_error, "mean_squared_error", square(x - y))
// |x - y|
PINION_LOSS(absolute_difference, "absolute_difference", abs(x - y))
// max(0, 1 - x (2 y - 1)): labels are 0 or 1, predictions logits.
PINION_LOSS(hinge_loss, "hinge_loss", relu(T(1) - x * (y * T(2) - T(1))))
// log(1 + e^x) - x y, which neither overflows nor loses the small: labels are probabilities, predictions logits.
PINION_LOSS(sigmoid_cross_entropy, "sigmoid_cross_entropy_loss", softplus(x) - x * y)
// -y log(x + 1e-7) - (1 - y) log(1 - x + 1e-7): predictions are probabilities.
PINION_LOSS(log_loss, "log_loss",
            -y* log(x + static_cast<T>(1e-7)) - (T(1) - y) * log((T(1) + static_cast<T>(1e-7)) - x))
#undef PINION_LOSS

// x^2 / 2 for errors x up to delta, delta |x| - delta^2 / 2 beyond (Huber 1964).
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> huber_loss(const L& labels, const P& predictions, double delta = 1, const loss_options& o = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<P>;
  static_assert(dsl::same_dtype<dsl::value_of<L>, T>,
                "labels and predictions have different dtypes; pn::cast<T>(x) converts");
  dsl::check_floating<P>();
  if (!(delta > 0))
    throw error(errc::invalid_argument, "huber_loss with delta " + std::to_string(delta) + "; it must be positive");
  const called_from line(where);
  const name_scope scope("huber_loss");
  const expr<T> y = labels, x = predictions;
  detail::expect_same_shape("huber_loss", y, x);
  const expr<T> off = abs(x - y);
  const expr<T> near = minimum(off, static_cast<T>(delta));
  return compute_weighted_loss<T>(square(near) * T(.5) + (off - near) * static_cast<T>(delta), o);
}

// Labels [n, c] as distributions, logits [n, c]: a loss for each row. Smoothing moves that part of each label to all
// classes alike. Weights broadcast to [n].
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
// Labels [n] as class numbers, int32 or int64.
template <dsl::graph_operand L, dsl::graph_operand P>
expr<dsl::value_of<P>> sparse_softmax_cross_entropy(const L& labels, const P& logits, const loss_options& o = {},
                                                    source_location where = source_location::current()) {
  const called_from line(where);
  const name_scope scope("sparse_softmax_cross_entropy_loss");
  return compute_weighted_loss<dsl::value_of<P>>(sparse_softmax_cross_entropy_with_logits(labels, logits), o);
}

// scale sum(w^2) / 2 of each variable that it is called with: tr::l2_regularizer{.01}(W). What it yields joins the
// collection "regularization_losses".
struct l2_regularizer {
  double scale;
  template <dsl::graph_operand W>
  expr<dsl::value_of<W>> operator()(const W& w, source_location where = source_location::current()) const {
    using T = dsl::value_of<W>;
    const called_from line(where);
    const name_scope scope("l2_regularizer");
    const expr<T> loss = reduce_sum(square(w)) * static_cast<T>(scale / 2);
    loss.owner().add_to_collection("regularization_losses", loss.id());
    return loss;
  }
};

// The sum of the losses of the default graph, and of what regularizers yielded. Throws invalid_argument where there is
// none, or one of another dtype.
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

// Metrics: numbers that are measured over many steps, such as the accuracy on a test set. They accumulate in local
// variables.
//
//   auto [accuracy, update] = tr::accuracy(labels, predictions);
//   sess.run(pn::local_variables_initializer());                    // begins to count, and begins anew
//   for (...) sess.run({{X, xb}, {y, yb}}, update);                 // yields the value so far
//   double a = sess.run(accuracy);
//
// The counters are double, local (collection "local_variables"), and are placed where the metric is made. Semantics:
// TensorFlow 1.15, python/ops/metrics_impl.py. Updates are not atomic: of two that run at once, each may see half of
// the other.
//
//   mean       of numbers                      sum(w x) / sum(w)
//   accuracy   of predictions and labels       the part that is equal
//   auc        of probabilities and bools      the area under the ROC curve
#pragma once

#include <string_view>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/train/losses.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A metric is a pair of expressions over shared counters: one reads the value, the other counts a step first. It refers
// to the graph. Running `value` or `update` before the local variables are initialised throws failed_precondition.
// Fetch `update` in each step and `value` at the end; fetching both in one step orders neither before the other.
struct metric {
  expr<double> value;   // the value over all steps counted so far
  expr<double> update;  // counts the elements of this step, and yields the value that includes them
};

// The options that metrics share.
struct metric_options {
  // The weight of each element: a number, or an expression that broadcasts to the elements.
  loss_weights weights = 1;
  // The name scope of the metric's nodes; empty: the name of the function.
  std::string_view name = {};
};

namespace detail {

// The values in double, cast if they have another dtype.
template <dsl::graph_operand A>
expr<double> as_double(const A& x) {
  if constexpr (std::is_same_v<dsl::value_of<A>, double>)
    return x;
  else
    return cast<double>(x);
}

// The sum of the elements, each multiplied by its weight.
expr<double> weighted_sum(const expr<double>& x, const loss_weights& weights);

// The running weighted mean of `values`.
metric mean_of(const expr<double>& values, const loss_weights& weights);

}  // namespace detail

// The weighted mean of all elements of `values` seen so far: sum(w x) / sum(w). It is 0 before the first step. `values`
// has any numeric dtype and any shape; the mean is a scalar double.
//
//   auto [mean_loss, update] = tr::mean(loss, {.name = "mean_loss"});
template <dsl::graph_operand V>
metric mean(const V& values, const metric_options& o = {}, source_location where = source_location::current()) {
  const called_from line(where);
  const name_scope scope(o.name.empty() ? "mean" : o.name);
  return detail::mean_of(detail::as_double(values), o.weights);
}

// The part of predictions that equal their labels, in [0, 1]. Both have one dtype and one shape; mostly they are class
// numbers. Weights count elements more or less. Throws invalid_argument if the shapes differ.
//
//   auto [accuracy, update] = tr::accuracy(labels, pn::cast<int>(pn::argmax(logits, 1)));
template <dsl::graph_operand L, dsl::graph_operand P>
metric accuracy(const L& labels, const P& predictions, const metric_options& o = {},
                source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<L>, dsl::value_of<P>>,
                "labels and predictions have different dtypes; pn::cast<T>(x) converts");
  const called_from line(where);
  const name_scope scope(o.name.empty() ? "accuracy" : o.name);
  const expr<dsl::value_of<L>> y = labels, x = predictions;
  detail::expect_same_shape("accuracy", y, x);
  return detail::mean_of(detail::as_double(equal(y, x)), o.weights);
}

// The options of auc.
struct auc_options {
  // The number of thresholds at which the curve is computed. More of them give a closer result and larger counters. At
  // least 2, else invalid_argument.
  int num_thresholds = 200;
  // The name scope of the metric's nodes; empty: "auc".
  std::string_view name = {};
};

namespace detail {
// The number of thresholds as an integer. Throws invalid_argument if it is less than two.
std::int64_t checked_thresholds(const auc_options& o);
metric auc_of(const expr<double>& labels, const expr<double>& predictions, std::int64_t count);
}  // namespace detail

// The area under the ROC curve (recall over the false-positive rate), summed by trapezoids between `num_thresholds`
// thresholds. It is 1 if every positive example scores above every negative one, and .5 for scores at random. The
// inner thresholds are evenly spaced in (0, 1); the outermost ones lie just outside [0, 1], at -1e-7 and 1 + 1e-7.
// Labels are bools, predictions are numbers in [0, 1] of the same shape, whatever it is. Throws invalid_argument if
// the shapes differ or there are fewer than two thresholds.
template <dsl::graph_operand L, dsl::graph_operand P>
metric auc(const L& labels, const P& predictions, const auc_options& o = {},
           source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<L>, bool>, "the labels of auc are bools; pn::cast<bool>(x) converts");
  const std::int64_t thresholds = detail::checked_thresholds(o);
  const called_from line(where);
  const name_scope scope(o.name.empty() ? "auc" : o.name);
  const expr<double> p = detail::as_double(predictions), y = cast<double>(labels);
  return detail::auc_of(y, p, thresholds);
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/metrics.ipp>
#endif

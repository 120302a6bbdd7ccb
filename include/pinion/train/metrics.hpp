// Metrics: what is measured over many steps, in local variables.
//
//   auto [accuracy, update] = tr::accuracy(labels, predictions);
//   sess.run(pn::local_variables_initializer());                    // begins, and begins anew
//   for (...) sess.run({{X, xb}, {y, yb}}, update);                 // yields the value so far
//   double a = sess.run(accuracy);
//
// Counters are double, local (collection "local_variables") and stand where the metric is made. Semantics: TensorFlow
// 1.15, python/ops/metrics_impl.py. Two updates at once may each see the other's half.
#pragma once

#include <string_view>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/train/losses.hpp>

namespace pinion::inline v0::train {

struct metric {
  expr<double> value;   // so far
  expr<double> update;  // counts the step, and yields the value with it
};

struct metric_options {
  loss_weights weights = 1;
  std::string_view name = {};
};

namespace detail {

template <dsl::graph_operand A>
expr<double> as_double(const A& x) {
  if constexpr (std::is_same_v<dsl::value_of<A>, double>)
    return x;
  else
    return cast<double>(x);
}

// The sum, each element counted by its weight.
expr<double> weighted_sum(const expr<double>& x, const loss_weights& weights);

metric mean_of(const expr<double>& values, const loss_weights& weights);

}  // namespace detail

// The weighted mean of all values seen; 0 before there is one.
template <dsl::graph_operand V>
metric mean(const V& values, const metric_options& o = {}, source_location where = source_location::current()) {
  const called_from line(where);
  const name_scope scope(o.name.empty() ? "mean" : o.name);
  return detail::mean_of(detail::as_double(values), o.weights);
}

// How often predictions are the labels: both of one dtype and shape, class numbers mostly.
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

struct auc_options {
  int num_thresholds = 200;  // at least 2
  std::string_view name = {};
};

namespace detail {
// Throws invalid_argument where there are fewer than two.
std::int64_t checked_thresholds(const auc_options& o);
metric auc_of(const expr<double>& labels, const expr<double>& predictions, std::int64_t count);
}  // namespace detail

// The area under the curve of recall over false-positive rate, as trapezoids between num_thresholds thresholds: those
// between lie evenly in (0, 1), the outermost just outside [0, 1]. Labels are bools, predictions as many numbers in
// [0, 1]; they may have any shape.
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

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/metrics.ipp>
#endif

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
#include <pinion/dsl/layout.hpp>
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

inline variable_handle<double> local_counter(const char* name, const shape& extent = {}) {
  return variable(tensor<double>(extent), {.name = name, .trainable = false, .local = true});
}
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
// The area under recall over false-positive rate, by trapezoids between thresholds.
expr<double> area_under_roc(const expr<double>& tp, const expr<double>& fp, const expr<double>& positives,
                            const expr<double>& negatives, std::int64_t n);
}  // namespace detail

// The area under the curve of recall over false-positive rate, as trapezoids between num_thresholds thresholds: those
// between lie evenly in (0, 1), the outermost just outside [0, 1]. Labels are bools, predictions as many numbers in
// [0, 1]; they may have any shape.
template <dsl::graph_operand L, dsl::graph_operand P>
metric auc(const L& labels, const P& predictions, const auc_options& o = {},
           source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<L>, bool>, "the labels of auc are bools; pn::cast<bool>(x) converts");
  if (o.num_thresholds < 2)
    throw error(errc::invalid_argument, "auc with " + std::to_string(o.num_thresholds) + " thresholds; it needs two");
  const called_from line(where);
  const name_scope scope(o.name.empty() ? "auc" : o.name);
  const std::int64_t n = o.num_thresholds;
  tensor<double> thresholds({n, 1});
  for (std::int64_t i = 0; i < n; ++i) thresholds(i, 0) = static_cast<double>(i) / static_cast<double>(n - 1);
  thresholds(0, 0) = -1e-7, thresholds(n - 1, 0) = 1 + 1e-7;
  const expr<double> p = detail::as_double(predictions), y = cast<double>(labels);
  detail::expect_same_shape("auc", y, p);
  const expr<double> scores = reshape(p, {1, -1}), truth = reshape(y, {1, -1});
  const expr<double> at = constant(thresholds, "thresholds");
  const expr<double> found = cast<double>(scores > at);
  const auto tp = detail::local_counter("true_positives", {n}), fp = detail::local_counter("false_positives", {n}),
             positives = detail::local_counter("positives"), negatives = detail::local_counter("negatives");
  const expr<double> now_tp = assign_add(tp, reduce_sum(found * truth, {.axes = {1}})),
                     now_fp = assign_add(fp, reduce_sum(found * (1. - truth), {.axes = {1}})),
                     now_positive = assign_add(positives, reduce_sum(truth)),
                     now_negative = assign_add(negatives, reduce_sum(1. - truth));
  return {detail::area_under_roc(tp.read(), fp.read(), positives.read(), negatives.read(), n),
          detail::area_under_roc(now_tp, now_fp, now_positive, now_negative, n)};
}

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/metrics.ipp>
#endif

// Bodies of <pinion/train/metrics.hpp>.
#pragma once

#include <string>

#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/train/metrics.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

inline variable_handle<double> local_counter(const char* name, const shape& extent = {}) {
  return variable(tensor<double>(extent), {.name = name, .trainable = false, .local = true});
}

PINION_DECL expr<double> weighted_sum(const expr<double>& x, const loss_weights& weights) {
  return weights.is_number() ? weighted_by_number(x, weights.number(), reduction::sum)
                             : weighted_by(x, weights.expression(), reduction::sum);
}

PINION_DECL metric mean_of(const expr<double>& values, const loss_weights& weights) {
  const auto total = local_counter("total"), count = local_counter("count");
  const expr<double> sum = assign_add(total, weighted_sum(values, weights)),
                     n = assign_add(count, weighted_sum(ones_like(values), weights));
  return {safe_quotient<double>(total.read(), count.read()), safe_quotient(sum, n)};
}

PINION_DECL std::int64_t checked_thresholds(const auc_options& o) {
  if (o.num_thresholds < 2)
    throw error(errc::invalid_argument, "auc with " + std::to_string(o.num_thresholds) + " thresholds; it needs two");
  return o.num_thresholds;
}

// The area under recall over the false-positive rate, by trapezoids between neighbouring thresholds.
inline expr<double> area_under_roc(const expr<double>& tp, const expr<double>& fp, const expr<double>& positives,
                                   const expr<double>& negatives, std::int64_t n) {
  constexpr double epsilon = 1e-6;
  const expr<double> recall = (tp + epsilon) / (positives + epsilon), rate = fp / (negatives + epsilon);
  const auto from = [&](const expr<double>& x, std::int64_t i) { return expr<double>(slice(x, {i}, {n - 1})); };
  const expr<double> width = from(rate, 0) - from(rate, 1), height = from(recall, 0) + from(recall, 1);
  return reduce_sum(width * height) * .5;
}

PINION_DECL metric auc_of(const expr<double>& labels, const expr<double>& predictions, std::int64_t count) {
  tensor<double> thresholds({count, 1});
  for (std::int64_t i = 0; i < count; ++i) thresholds(i, 0) = static_cast<double>(i) / static_cast<double>(count - 1);
  thresholds(0, 0) = -1e-7, thresholds(count - 1, 0) = 1 + 1e-7;
  expect_same_shape("auc", labels, predictions);
  const expr<double> scores = reshape(predictions, {1, -1}), truth = reshape(labels, {1, -1});
  const expr<double> at = constant(thresholds, "thresholds");
  const expr<double> found = cast<double>(scores > at);
  const auto tp = local_counter("true_positives", {count}), fp = local_counter("false_positives", {count}),
             positives = local_counter("positives"), negatives = local_counter("negatives");
  const expr<double> now_tp = assign_add(tp, reduce_sum(found * truth, {.axes = {1}})),
                     now_fp = assign_add(fp, reduce_sum(found * (1. - truth), {.axes = {1}})),
                     now_positive = assign_add(positives, reduce_sum(truth)),
                     now_negative = assign_add(negatives, reduce_sum(1. - truth));
  return {area_under_roc(tp.read(), fp.read(), positives.read(), negatives.read(), count),
          area_under_roc(now_tp, now_fp, now_positive, now_negative, count)};
}

}}}}  // namespace pinion::v0::train::detail

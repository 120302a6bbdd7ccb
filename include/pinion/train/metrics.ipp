// Bodies of <pinion/train/metrics.hpp>.
#pragma once

#include <pinion/train/metrics.hpp>

namespace pinion::inline v0::train::detail {

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

PINION_DECL expr<double> area_under_roc(const expr<double>& tp, const expr<double>& fp, const expr<double>& positives,
                                        const expr<double>& negatives, std::int64_t n) {
  constexpr double epsilon = 1e-6;
  const expr<double> recall = (tp + epsilon) / (positives + epsilon), rate = fp / (negatives + epsilon);
  const auto from = [&](const expr<double>& x, std::int64_t i) { return expr<double>(slice(x, {i}, {n - 1})); };
  const expr<double> width = from(rate, 0) - from(rate, 1), height = from(recall, 0) + from(recall, 1);
  return reduce_sum(width * height) * .5;
}

}  // namespace pinion::inline v0::train::detail

// Bodies of <pinion/train/optimizers/schedules.hpp>.
#pragma once

#include <string>

#include <pinion/train/optimizers/schedules.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void expect_steps(const char* schedule, double steps) {
  if (!(steps > 0))
    throw error(errc::invalid_argument,
                std::string(schedule) + " over " + std::to_string(steps) + " steps; it must be more than 0");
}

PINION_DECL formula_value passed(const formula_value& step, double steps, bool staircase) {
  const auto p = step / steps;
  return staircase ? floor(p) : p;
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL expr<double> exponential_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                           const decay_options& o, source_location where) {
  detail::expect_steps("exponential_decay", o.decay_steps);
  return detail::schedule<2>(
      "ExponentialDecay", step, {rate, step},
      [o](const auto& x) {
        const auto factor = pow(o.decay_rate, detail::passed(x[1], o.decay_steps, o.staircase));
        return x[0] * factor;
      },
      where);
}

PINION_DECL expr<double> natural_exp_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                           const decay_options& o, source_location where) {
  detail::expect_steps("natural_exp_decay", o.decay_steps);
  return detail::schedule<2>(
      "NaturalExpDecay", step, {rate, step},
      [o](const auto& x) {
        const auto factor = exp(-o.decay_rate * detail::passed(x[1], o.decay_steps, o.staircase));
        return x[0] * factor;
      },
      where);
}

PINION_DECL expr<double> inverse_time_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                            const decay_options& o, source_location where) {
  detail::expect_steps("inverse_time_decay", o.decay_steps);
  return detail::schedule<2>(
      "InverseTimeDecay", step, {rate, step},
      [o](const auto& x) {
        const auto divisor = 1.0 + o.decay_rate * detail::passed(x[1], o.decay_steps, o.staircase);
        return x[0] / divisor;
      },
      where);
}

PINION_DECL expr<double> polynomial_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                          const polynomial_decay_options& o, source_location where) {
  detail::expect_steps("polynomial_decay", o.decay_steps);
  return detail::schedule<2>(
      "PolynomialDecay", step, {rate, step},
      [o](const auto& x) {
        const auto p = x[1] / o.decay_steps;
        const auto left = 1.0 - (o.cycle ? p / max(ceil(p), 1.0) : min(p, 1.0));
        const auto span = x[0] - o.end_learning_rate;
        return span * pow(left, o.power) + o.end_learning_rate;
      },
      where);
}

PINION_DECL expr<double> cosine_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                      const cosine_decay_options& o, source_location where) {
  detail::expect_steps("cosine_decay", o.decay_steps);
  return detail::schedule<2>(
      "CosineDecay", step, {rate, step},
      [o](const auto& x) {
        const auto wave = cos(M_PI * min(x[1] / o.decay_steps, 1.0));
        const auto factor = (1 - o.alpha) * .5 * (1.0 + wave) + o.alpha;
        return x[0] * factor;
      },
      where);
}

PINION_DECL expr<double> linear_warmup(const scalar_value& rate, const expr<std::int64_t>& step,
                                       const linear_warmup_options& o, source_location where) {
  detail::expect_steps("linear_warmup", o.warmup_steps);
  return detail::schedule<2>(
      "LinearWarmup", step, {rate, step},
      [o](const auto& x) {
        const auto factor = o.start + (1 - o.start) * min(x[1] / o.warmup_steps, 1.0);
        return x[0] * factor;
      },
      where);
}

PINION_DECL expr<double> piecewise_constant(const expr<std::int64_t>& step, const std::vector<std::int64_t>& boundaries,
                                            const std::vector<double>& values, source_location where) {
  constexpr std::size_t most = 60;
  if (values.size() != boundaries.size() + 1 || boundaries.size() > most)
    throw error(errc::invalid_argument, "piecewise_constant of " + std::to_string(boundaries.size()) +
                                            " boundaries and " + std::to_string(values.size()) +
                                            " values; there is one value more than boundaries, of which " +
                                            std::to_string(most) + " is the most");
  for (std::size_t i = 1; i < boundaries.size(); ++i)
    if (boundaries[i - 1] >= boundaries[i])
      throw error(errc::invalid_argument, "the boundaries of piecewise_constant must rise, but " +
                                              std::to_string(boundaries[i]) + " follows " +
                                              std::to_string(boundaries[i - 1]));
  return detail::schedule<2>(
      "PiecewiseConstant", step, {values.back(), step},
      [&](const auto& x) {
        auto value = x[0];
        for (std::size_t i = boundaries.size(); i-- > 0;)
          value = select(x[1] <= static_cast<double>(boundaries[i]), values[i], value);
        return value;
      },
      where);
}

}}}  // namespace pinion::v0::train

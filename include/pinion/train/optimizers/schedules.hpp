// Schedules: learning rates that change with the global step.
//
// Each is one node, computed in double from the step (int64, as the global step is; it counts from 0), and stands where
// it is made: tr::momentum{{.learning_rate = tr::exponential_decay(.1, step, {.decay_steps = 1000, .decay_rate =
// .9})}}. The initial rate is a number, or an expression itself. Formulas: TensorFlow 1.15, tf.train and
// python/keras/optimizer_v2/learning_rate_schedule.py. They throw invalid_argument where a number makes no sense.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/train/formula.hpp>

namespace pinion::inline v0::train {

namespace detail {
inline void expect_steps(const char* schedule, double steps) {
  if (!(steps > 0))
    throw error(errc::invalid_argument,
                std::string(schedule) + " over " + std::to_string(steps) + " steps; it must be more than 0");
}
// What has passed of a decay: step / steps, or the whole number below.
inline formula_value passed(const formula_value& step, double steps, bool staircase) {
  const auto p = step / steps;
  return staircase ? floor(p) : p;
}
template <std::size_t N, class Formula>
expr<double> schedule(const char* name, const expr<std::int64_t>& step, const std::array<scalar_value, N>& operands,
                      Formula formula, source_location where) {
  const any_expr made = formula_node(dsl::graph_of(step), name, operands, formula, where);
  return {made.owner(), made.endpoint()};
}
}  // namespace detail

struct decay_options {
  double decay_steps = 1000;
  double decay_rate = .96;
  bool staircase = false;  // whole periods only
};

// rate decay_rate^(step / decay_steps)
inline expr<double> exponential_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                      const decay_options& o = {}, source_location where = source_location::current()) {
  detail::expect_steps("exponential_decay", o.decay_steps);
  return detail::schedule<2>(
      "ExponentialDecay", step, {rate, step},
      [o](const auto& x) {
        const auto factor = pow(o.decay_rate, detail::passed(x[1], o.decay_steps, o.staircase));
        return x[0] * factor;
      },
      where);
}

// rate e^(-decay_rate step / decay_steps)
inline expr<double> natural_exp_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                      const decay_options& o = {}, source_location where = source_location::current()) {
  detail::expect_steps("natural_exp_decay", o.decay_steps);
  return detail::schedule<2>(
      "NaturalExpDecay", step, {rate, step},
      [o](const auto& x) {
        const auto factor = exp(-o.decay_rate * detail::passed(x[1], o.decay_steps, o.staircase));
        return x[0] * factor;
      },
      where);
}

// rate / (1 + decay_rate step / decay_steps)
inline expr<double> inverse_time_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                       const decay_options& o = {},
                                       source_location where = source_location::current()) {
  detail::expect_steps("inverse_time_decay", o.decay_steps);
  return detail::schedule<2>(
      "InverseTimeDecay", step, {rate, step},
      [o](const auto& x) {
        const auto divisor = 1.0 + o.decay_rate * detail::passed(x[1], o.decay_steps, o.staircase);
        return x[0] / divisor;
      },
      where);
}

struct polynomial_decay_options {
  double decay_steps = 1000;
  double end_learning_rate = .0001;
  double power = 1;
  bool cycle = false;  // behind the end it starts again, each time from a lower rate; otherwise it stays at the end
};

// (rate - end) (1 - step / decay_steps)^power + end. With cycle decay_steps is the first multiple not below the step.
inline expr<double> polynomial_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                     const polynomial_decay_options& o = {},
                                     source_location where = source_location::current()) {
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

struct cosine_decay_options {
  double decay_steps = 1000;
  double alpha = 0;  // what is left in the end, as a part of the rate
};

// rate ((1 - alpha) (1 + cos(pi min(step / decay_steps, 1))) / 2 + alpha) (Loshchilov and Hutter 2017)
inline expr<double> cosine_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                 const cosine_decay_options& o = {},
                                 source_location where = source_location::current()) {
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

struct linear_warmup_options {
  double warmup_steps = 1000;
  double start = 0;  // where it begins, as a part of the rate
};

// The rate, a number or another schedule, times a factor that rises from `start` to 1: it is start + (1 - start) step /
// warmup_steps, and 1 from warmup_steps on.
inline expr<double> linear_warmup(const scalar_value& rate, const expr<std::int64_t>& step,
                                  const linear_warmup_options& o = {},
                                  source_location where = source_location::current()) {
  detail::expect_steps("linear_warmup", o.warmup_steps);
  return detail::schedule<2>(
      "LinearWarmup", step, {rate, step},
      [o](const auto& x) {
        const auto factor = o.start + (1 - o.start) * min(x[1] / o.warmup_steps, 1.0);
        return x[0] * factor;
      },
      where);
}

// values[0] up to step boundaries[0], that one included, values[1] up to boundaries[1], ..., and the last value behind
// all of them. Boundaries rise, at most 60 of them; there is one value more than boundaries.
inline expr<double> piecewise_constant(const expr<std::int64_t>& step, const std::vector<std::int64_t>& boundaries,
                                       const std::vector<double>& values,
                                       source_location where = source_location::current()) {
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

}  // namespace pinion::inline v0::train

// Bodies of <pinion/train/optimizers/schedules.hpp>.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <pinion/base/number_text.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/schedules.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Throws invalid_argument, in the name of a schedule, unless a number of steps is positive.
inline void expect_steps(const char* schedule, double steps) {
  if (!(steps > 0))
    throw error(errc::invalid_argument,
                std::string(schedule) + " over " + number_text(steps) + " steps; it must be more than 0");
}

// Builds the node of a schedule.
template <class Formula>
expr<double> schedule(const char* name, const expr<std::int64_t>& step, const std::vector<scalar_value>& operands,
                      source_location where) {
  return dsl::as_typed<expr<double>>(rate_node<Formula>(dsl::graph_of(step), name, operands, where));
}
// Builds the node of a decay by periods, gradual or in stairs.
template <template <bool> class Formula>
expr<double> decay(const char* name, const expr<std::int64_t>& step, const scalar_value& rate, double strength,
                   const decay_options& o, source_location where) {
  const std::vector<scalar_value> operands{rate, step, strength, o.decay_steps};
  return o.staircase ? schedule<Formula<true>>(name, step, operands, where)
                     : schedule<Formula<false>>(name, step, operands, where);
}

// An interval of steps: its last one, and its value.
struct interval {
  double end, value;
};
// Builds a node that yields the value of the interval with the step, and `last` behind all of them. Where there are
// fewer intervals than the formula has, the last one comes several times.
template <std::size_t N>
expr<double> choose(const expr<std::int64_t>& step, std::span<const interval> intervals, const scalar_value& last,
                    source_location where) {
  std::vector<scalar_value> operands{last, step};
  for (std::size_t i = 0; i < N; ++i) {
    const interval& one = intervals[std::min(i, intervals.size() - 1)];
    operands.emplace_back(one.end);
    operands.emplace_back(one.value);
  }
  return schedule<rates::piecewise_constant<N>>("PiecewiseConstant", step, operands, where);
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL expr<double> exponential_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                           const decay_options& o, source_location where) {
  detail::expect_steps("exponential_decay", o.decay_steps);
  return detail::decay<rates::exponential_decay>("ExponentialDecay", step, rate, o.decay_rate, o, where);
}

PINION_DECL expr<double> natural_exp_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                           const decay_options& o, source_location where) {
  detail::expect_steps("natural_exp_decay", o.decay_steps);
  return detail::decay<rates::natural_exp_decay>("NaturalExpDecay", step, rate, -o.decay_rate, o, where);
}

PINION_DECL expr<double> inverse_time_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                            const decay_options& o, source_location where) {
  detail::expect_steps("inverse_time_decay", o.decay_steps);
  return detail::decay<rates::inverse_time_decay>("InverseTimeDecay", step, rate, o.decay_rate, o, where);
}

PINION_DECL expr<double> polynomial_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                          const polynomial_decay_options& o, source_location where) {
  detail::expect_steps("polynomial_decay", o.decay_steps);
  const std::vector<scalar_value> operands{rate, step, o.decay_steps, o.end_learning_rate, o.power};
  return o.cycle ? detail::schedule<rates::polynomial_decay<true>>("PolynomialDecay", step, operands, where)
                 : detail::schedule<rates::polynomial_decay<false>>("PolynomialDecay", step, operands, where);
}

PINION_DECL expr<double> cosine_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                                      const cosine_decay_options& o, source_location where) {
  detail::expect_steps("cosine_decay", o.decay_steps);
  return detail::schedule<rates::cosine_decay>("CosineDecay", step,
                                               {rate, step, o.decay_steps, (1 - o.alpha) * .5, o.alpha}, where);
}

PINION_DECL expr<double> linear_warmup(const scalar_value& rate, const expr<std::int64_t>& step,
                                       const linear_warmup_options& o, source_location where) {
  detail::expect_steps("linear_warmup", o.warmup_steps);
  return detail::schedule<rates::linear_warmup>("LinearWarmup", step,
                                                {rate, step, o.warmup_steps, o.start, 1 - o.start}, where);
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
  std::vector<detail::interval> intervals;
  for (std::size_t i = 0; i < boundaries.size(); ++i)
    intervals.push_back({static_cast<double>(boundaries[i]), values[i]});
  if (intervals.empty()) intervals.push_back({0, values.back()});
  scalar_value last = values.back();
  std::span<const detail::interval> left = intervals;
  constexpr std::size_t few = 4, many = 20;  // of one node
  for (; left.size() > many; left = left.first(left.size() - many))
    last = scalar_value(detail::choose<many>(step, left.last(many), last, where));
  return left.size() > few ? detail::choose<many>(step, left, last, where)
                           : detail::choose<few>(step, left, last, where);
}

}}}  // namespace pinion::v0::train

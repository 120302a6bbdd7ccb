// Schedules: learning rates that change with the global step.
//
//   auto rate = tr::exponential_decay(.1, step, {.decay_steps = 1000, .decay_rate = .9});
//   auto train = tr::momentum{{.learning_rate = rate}}.minimize(loss, {.global_step = step});
//
// A schedule is one node that computes a scalar in double from the step, which is int64 and counts from 0; a
// piecewise_constant of more than 20 boundaries is several. It is placed where it is made, so a guard around it decides
// where the rate is computed. The initial rate is a number or a scalar
// expression, so a schedule may be the rate of another one. Formulas: TensorFlow 1.15, tf.train and
// python/keras/optimizer_v2/learning_rate_schedule.py. All of them throw invalid_argument if a number of steps is not
// positive, and if the rate belongs to another graph than the step.
//
//   exponential_decay, natural_exp_decay, inverse_time_decay     ever smaller, gradually or in stairs
//   polynomial_decay, cosine_decay                               down to an end within a number of steps
//   linear_warmup                                                up from a part of another rate
//   piecewise_constant                                           a rate for each interval
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of the three exponential and hyperbolic decays.
struct decay_options {
  // The number of steps in one period. Positive.
  double decay_steps = 1000;
  // The factor, or the strength, of the decay in one period.
  double decay_rate = .96;
  // true: the rate changes once a period; false: with every step.
  bool staircase = false;
};

// Decays by a constant factor in each period: rate decay_rate^(step / decay_steps).
//
//   exponential_decay(.1, step, {.decay_steps = 1000, .decay_rate = .5})    // .1 at 0, .05 at 1000, .025 at 2000
expr<double> exponential_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                               source_location where = source_location::current());

// Decays by the natural exponential: rate e^(-decay_rate step / decay_steps).
expr<double> natural_exp_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                               source_location where = source_location::current());

// Decays like the inverse of time: rate / (1 + decay_rate step / decay_steps). With decay_rate 1 it is half the rate
// after one period and a third after two.
expr<double> inverse_time_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                                source_location where = source_location::current());

// The options of polynomial_decay.
struct polynomial_decay_options {
  // The number of steps until the end rate is reached. Positive.
  double decay_steps = 1000;
  // The rate at the end.
  double end_learning_rate = .0001;
  // The exponent: 1 is a straight line.
  double power = 1;
  // true: at its end the decay starts anew, each time from a lower rate; false: the rate stays at its end.
  bool cycle = false;
};

// Goes from the rate to its end on a polynomial, and stays there. With `cycle`, the first multiple of decay_steps that
// is not below the step takes the place of decay_steps.
//
//   (rate - end) (1 - min(step / decay_steps, 1))^power + end
//
//   polynomial_decay(.1, step, {.decay_steps = 1000, .end_learning_rate = 0})    // .1 at 0, .05 at 500, 0 from 1000 on
expr<double> polynomial_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                              const polynomial_decay_options& o = {},
                              source_location where = source_location::current());

// The options of cosine_decay.
struct cosine_decay_options {
  // The number of steps until the last rate is reached. Positive.
  double decay_steps = 1000;
  // The last rate, as a part of the first.
  double alpha = 0;
};

// Goes down half a wave of the cosine and stays there (Loshchilov and Hutter 2017): rate ((1 - alpha) (1 + cos(pi
// min(step / decay_steps, 1))) / 2 + alpha).
expr<double> cosine_decay(const scalar_value& rate, const expr<std::int64_t>& step, const cosine_decay_options& o = {},
                          source_location where = source_location::current());

// The options of linear_warmup.
struct linear_warmup_options {
  // The number of steps until the full rate is reached. Positive.
  double warmup_steps = 1000;
  // The factor at step 0.
  double start = 0;
};

// The rate, a number or another schedule, times a factor that rises from `start` to 1: start + (1 - start) min(step /
// warmup_steps, 1).
//
//   auto rate = tr::linear_warmup(tr::cosine_decay(.1, step, {.decay_steps = 10000}), step, {.warmup_steps = 500});
expr<double> linear_warmup(const scalar_value& rate, const expr<std::int64_t>& step,
                           const linear_warmup_options& o = {}, source_location where = source_location::current());

// A constant for each interval of steps: values[0] up to step boundaries[0] included, values[1] up to boundaries[1],
// and so on; the last value applies after all boundaries. Throws invalid_argument unless the boundaries rise, are at
// most 60, and there is one value more than boundaries.
//
//   piecewise_constant(step, {1000, 5000}, {.1, .01, .001})    // .1 at 1000, .01 at 1001, .001 at 5001
expr<double> piecewise_constant(const expr<std::int64_t>& step, const std::vector<std::int64_t>& boundaries,
                                const std::vector<double>& values, source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/schedules.ipp>
#endif

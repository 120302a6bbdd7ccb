// Schedules: learning rates that change with the global step.
//
// Each is one node, computed in double from the step (int64, as the global step is; it counts from 0), and stands where
// it is made: tr::momentum{{.learning_rate = tr::exponential_decay(.1, step, {.decay_steps = 1000, .decay_rate =
// .9})}}. The initial rate is a number, or an expression itself. Formulas: TensorFlow 1.15, tf.train and
// python/keras/optimizer_v2/learning_rate_schedule.py. They throw invalid_argument where a number makes no sense.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/formula.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {
void expect_steps(const char* schedule, double steps);
// What has passed of a decay: step / steps, or the whole number below.
formula_value passed(const formula_value& step, double steps, bool staircase);
template <std::size_t N, class Formula>
expr<double> schedule(const char* name, const expr<std::int64_t>& step, const std::array<scalar_value, N>& operands,
                      Formula formula, source_location where) {
  return dsl::as_typed<expr<double>>(formula_node(dsl::graph_of(step), name, operands, formula, where));
}
}  // namespace detail

struct decay_options {
  double decay_steps = 1000;
  double decay_rate = .96;
  bool staircase = false;  // whole periods only
};

// rate decay_rate^(step / decay_steps)
expr<double> exponential_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                               source_location where = source_location::current());

// rate e^(-decay_rate step / decay_steps)
expr<double> natural_exp_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                               source_location where = source_location::current());

// rate / (1 + decay_rate step / decay_steps)
expr<double> inverse_time_decay(const scalar_value& rate, const expr<std::int64_t>& step, const decay_options& o = {},
                                source_location where = source_location::current());

struct polynomial_decay_options {
  double decay_steps = 1000;
  double end_learning_rate = .0001;
  double power = 1;
  bool cycle = false;  // behind the end it starts again, each time from a lower rate; otherwise it stays at the end
};

// (rate - end) (1 - step / decay_steps)^power + end. With cycle decay_steps is the first multiple not below the step.
expr<double> polynomial_decay(const scalar_value& rate, const expr<std::int64_t>& step,
                              const polynomial_decay_options& o = {},
                              source_location where = source_location::current());

struct cosine_decay_options {
  double decay_steps = 1000;
  double alpha = 0;  // what is left in the end, as a part of the rate
};

// rate ((1 - alpha) (1 + cos(pi min(step / decay_steps, 1))) / 2 + alpha) (Loshchilov and Hutter 2017)
expr<double> cosine_decay(const scalar_value& rate, const expr<std::int64_t>& step, const cosine_decay_options& o = {},
                          source_location where = source_location::current());

struct linear_warmup_options {
  double warmup_steps = 1000;
  double start = 0;  // where it begins, as a part of the rate
};

// The rate, a number or another schedule, times a factor that rises from `start` to 1: it is start + (1 - start) step /
// warmup_steps, and 1 from warmup_steps on.
expr<double> linear_warmup(const scalar_value& rate, const expr<std::int64_t>& step,
                           const linear_warmup_options& o = {}, source_location where = source_location::current());

// values[0] up to step boundaries[0], that one included, values[1] up to boundaries[1], ..., and the last value behind
// all of them. Boundaries rise, at most 60 of them; there is one value more than boundaries.
expr<double> piecewise_constant(const expr<std::int64_t>& step, const std::vector<std::int64_t>& boundaries,
                                const std::vector<double>& values, source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/schedules.ipp>
#endif

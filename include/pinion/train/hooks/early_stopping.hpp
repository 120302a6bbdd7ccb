// Stops when the model no longer gets better, and keeps the best one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion::inline v0::train {

struct early_stopping_options {
  std::function<double(session&)> metric = {};  // of the model as it is, on a validation split, say
  int patience = 5;                             // evaluations without a better value before training stops
  bool restore_best = true;                     // at the end the variables have the values of the best evaluation
  std::int64_t every_n_steps = 100;             // global steps from one evaluation to the next
  bool smaller_is_better = false;
  double min_delta = 0;                              // what counts as better
  std::shared_ptr<pinion::train::saver> saver = {};  // of the variables that are kept; empty: all global ones
};

// Copies share what is known of the best model. A metric that is NaN is no better than any.
class early_stopping {
 public:
  explicit early_stopping(early_stopping_options o) : state_(std::make_shared<state>(std::move(o))) {
    if (!state_->o.metric) throw error(errc::invalid_argument, "early_stopping was given no metric");
    if (state_->o.patience < 1) throw error(errc::invalid_argument, "early_stopping needs patience of at least 1");
  }
  void begin() {
    state_->step.begin();
    if (!state_->o.saver) state_->o.saver = std::make_shared<pinion::train::saver>();
  }
  run_request before_run(run_context&) { return state_->step.request(); }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    state& s = *state_;
    const auto now = s.step.read_if_due(s.timer, c, values);
    if (!now) return;
    s.evaluate(c.session(), *now);
    if (s.since_best >= s.o.patience) c.request_stop();
  }
  // The last model is evaluated as well.
  void end(session& on) {
    state& s = *state_;
    const std::int64_t now = s.step.read(on);
    if (s.timer.last_step() != now) s.evaluate(on, now);
    if (s.o.restore_best && !s.kept.empty()) s.o.saver->give_back(on, s.kept);
  }

  // Of the best evaluation so far; the step is -1 before the first.
  double best() const { return state_->best; }
  std::int64_t best_step() const { return state_->best_step; }

 private:
  struct state {
    explicit state(early_stopping_options given)
        : o(std::move(given)), timer(o.every_n_steps, std::nullopt, "early_stopping") {}
    void evaluate(session& on, std::int64_t now) {
      timer.done(now);
      const double value = o.metric(on);
      if (!is_better(value)) {
        ++since_best;
        return;
      }
      best = value;
      best_step = now;
      since_best = 0;
      if (o.restore_best) kept = o.saver->take(on);
    }
    bool is_better(double value) const {
      if (best_step < 0) return value == value;
      return o.smaller_is_better ? value < best - o.min_delta : value > best + o.min_delta;
    }
    early_stopping_options o;
    step_timer timer;
    global_step_watch step;
    double best = std::numeric_limits<double>::quiet_NaN();
    std::int64_t best_step = -1;
    int since_best = 0;
    std::map<std::string, any_tensor> kept;
  };
  std::shared_ptr<state> state_;
};

}  // namespace pinion::inline v0::train

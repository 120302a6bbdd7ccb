// Stops when the model no longer gets better, and keeps the best one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

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
  explicit early_stopping(early_stopping_options o);
  void begin();
  run_request before_run(run_context&) { return state_->step.request(); }
  void after_run(run_context& c, std::span<const any_tensor> values);
  // The last model is evaluated as well.
  void end(session& on);

  // Of the best evaluation so far; the step is -1 before the first.
  double best() const { return state_->best; }
  std::int64_t best_step() const { return state_->best_step; }

 private:
  struct state {
    explicit state(early_stopping_options given);
    void evaluate(session& on, std::int64_t now);
    bool is_better(double value) const;
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
PINION_HELD_HOOK(early_stopping)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/early_stopping.ipp>
#endif

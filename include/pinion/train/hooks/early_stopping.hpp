// The hook that ends training when the model no longer gets better, and keeps the best one.
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
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of early_stopping. Evaluations run in the session without hooks, so they may take a whole validation set.
struct early_stopping_options {
  // Measures the model as it is now, for example the accuracy on a validation set. Required.
  std::function<double(session&)> metric = {};
  // Training ends after this many evaluations in a row without a better value. At least 1.
  int patience = 5;
  // true: at the end the variables get the values that they had at the best evaluation.
  bool restore_best = true;
  // The number of global steps from one evaluation to the next.
  std::int64_t every_n_steps = 100;
  // true for a metric such as a loss, false for one such as an accuracy.
  bool smaller_is_better = false;
  // A value is better only if it differs from the best by more than this.
  double min_delta = 0;
  // "best/model": the best model is a checkpoint of this prefix, which each better one replaces, with its value and
  // step beside it in the file "best/model.value"; a later start goes on from that value. "": it is in host memory
  // alone.
  std::string save_to = {};
  // Takes and gives back the variables; empty: a saver of all global variables.
  std::shared_ptr<pinion::train::saver> saver = {};
  // Receives what cannot be saved; empty: standard error.
  text_sink warn = {};
};

// Evaluates the model every so many global steps and asks for the end of training once `patience` evaluations in a row
// were no better than the best; with the greatest number for that it only keeps the best. Copies share the state, so a
// program can keep a copy and ask it for best(). The copies are for one thread at a time, the session's. A metric that
// is NaN is never better. The constructor throws invalid_argument without a metric or with patience below 1; an error
// of the metric ends the step. So does one of saving, unless it may pass, as that of a full disk, and saving has worked
// before: then training goes on, and the best model is the one that was saved last. begin() throws data_loss for a file
// of a value that holds none.
//
//   tr::early_stopping stop{{.metric = [&](pn::session& s) { return double(s.run(accuracy)); }}};
//   tr::monitored_training_session sess{{.hooks = {stop}}};
class early_stopping {
 public:
  // Throws invalid_argument without a metric or with patience below 1.
  explicit early_stopping(early_stopping_options o);
  // Makes the saver, unless one is given.
  void begin();
  run_request before_run(run_context&) { return state_->step.request(); }
  // Evaluates if that is due, and asks for the end of training if patience is over.
  void after_run(run_context& c, std::span<const any_tensor> values);
  // Evaluates the last model too, unless it was evaluated at this step, and restores the best one.
  void end(session& on);

  // The value of the best evaluation so far, or NaN before there is one; best_step() is its global step, or -1.
  double best() const { return state_->best; }
  std::int64_t best_step() const { return state_->best_step; }

 private:
  // The state that copies share.
  struct state {
    explicit state(early_stopping_options given);
    // Measures the model and keeps it if it is the best.
    void evaluate(session& on, std::int64_t now);
    bool is_better(double value) const;
    // Reads the value of the best model that is on the disk, if one is.
    void recall();
    void keep(session& on);
    disk_trouble saving_trouble(bool has_worked) const;
    early_stopping_options o;
    step_timer timer;
    global_step_watch step;
    double best = std::numeric_limits<double>::quiet_NaN();
    std::int64_t best_step = -1;
    int since_best = 0;
    disk_trouble trouble;  // of saving; the best model is the last one that was saved
    std::map<std::string, any_tensor> kept;
  };
  std::shared_ptr<state> state_;
};
PINION_HELD_HOOK(early_stopping)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/early_stopping.ipp>
#endif

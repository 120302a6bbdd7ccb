// Bodies of <pinion/train/hooks/early_stopping.hpp>.
#pragma once

#include <utility>

#include <pinion/train/hooks/early_stopping.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(early_stopping)

PINION_DECL early_stopping::early_stopping(early_stopping_options o) : state_(std::make_shared<state>(std::move(o))) {
  if (!state_->o.metric) throw error(errc::invalid_argument, "early_stopping was given no metric");
  if (state_->o.patience < 1) throw error(errc::invalid_argument, "early_stopping needs patience of at least 1");
}

PINION_DECL void early_stopping::begin() {
  state_->step.begin();
  if (!state_->o.saver) state_->o.saver = std::make_shared<pinion::train::saver>();
}

PINION_DECL void early_stopping::after_run(run_context& c, std::span<const any_tensor> values) {
  state& s = *state_;
  const auto now = s.step.read_if_due(s.timer, c, values);
  if (!now) return;
  s.evaluate(c.session(), *now);
  if (s.since_best >= s.o.patience) c.request_stop();
}

PINION_DECL void early_stopping::end(session& on) {
  state& s = *state_;
  const std::int64_t now = s.step.read(on);
  if (s.timer.last_step() != now) s.evaluate(on, now);
  if (s.o.restore_best && !s.kept.empty()) s.o.saver->give_back(on, s.kept);
}

PINION_DECL early_stopping::state::state(early_stopping_options given)
    : o(std::move(given)), timer(o.every_n_steps, std::nullopt, "early_stopping") {}

PINION_DECL void early_stopping::state::evaluate(session& on, std::int64_t now) {
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

PINION_DECL bool early_stopping::state::is_better(double value) const {
  if (best_step < 0) return value == value;
  return o.smaller_is_better ? value < best - o.min_delta : value > best + o.min_delta;
}

}}}  // namespace pinion::v0::train

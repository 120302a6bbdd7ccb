// Bodies of <pinion/train/hooks/early_stopping.hpp>.
#pragma once

#include <fstream>
#include <locale>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>
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
  state_->recall();
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
  if (!s.o.restore_best || s.best_step < 0) return;
  s.o.save_to.empty() ? s.o.saver->give_back(on, s.kept) : s.o.saver->restore(on, s.o.save_to);
}

PINION_DECL early_stopping::state::state(early_stopping_options given)
    : o(std::move(given)), timer(o.every_n_steps, std::nullopt, "early_stopping"), trouble(saving_trouble(false)) {}

PINION_DECL void early_stopping::state::evaluate(session& on, std::int64_t now) {
  timer.done(now);
  const double value = o.metric(on);
  if (!is_better(value)) {
    ++since_best;
    return;
  }
  since_best = 0;
  const double before = std::exchange(best, value);
  const std::int64_t step_before = std::exchange(best_step, now);
  bool is_kept = false;
  trouble.survive([&] { keep(on), is_kept = true; });
  if (!is_kept) best = before, best_step = step_before;
}

PINION_DECL void early_stopping::state::keep(session& on) {
  if (o.save_to.empty()) {
    if (o.restore_best) kept = o.saver->take(on);
    return;
  }
  o.saver->save(on, o.save_to);
  files::write_file(o.save_to + ".value", fmt::format("{} at step {}\n", best, best_step));
}

PINION_DECL void early_stopping::state::recall() {
  if (o.save_to.empty()) return;
  o.save_to = files::absolute_path(o.save_to).string();
  const std::string path = o.save_to + ".value";
  if (!files::is_there(path) || !checkpoint_files(o.save_to).exist()) return;
  std::ifstream file(path);
  file.imbue(std::locale::classic());
  std::string first, second;
  if (!(file >> best >> first >> second >> best_step) || first + second != "atstep" || best_step < 0)
    throw error(errc::data_loss, path + " does not say which value the best model has, as in '0.98 at step 2000'");
  trouble = saving_trouble(true);
}

PINION_DECL disk_trouble early_stopping::state::saving_trouble(bool has_worked) const {
  return {"a new best model", o.warn, has_worked};
}

PINION_DECL bool early_stopping::state::is_better(double value) const {
  if (best_step < 0) return value == value;
  return o.smaller_is_better ? value < best - o.min_delta : value > best + o.min_delta;
}

}}}  // namespace pinion::v0::train

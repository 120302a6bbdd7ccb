// Bodies of <pinion/train/session/monitored_session.hpp>.
#pragma once

#include <chrono>
#include <memory>
#include <random>

#include <pinion/train/session/log.hpp>
#include <pinion/train/session/monitored_session.hpp>
#include <pinion/train/session/session_hooks.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

// The codes that a step fails with when the threads of the coordinator stop, because they close the queues that they
// fill; a thread fails with them when another program closes its queue.
inline bool is_consequence(const error& e) {
  return e.code() == errc::cancelled || e.code() == errc::out_of_range;
}

// The pause before a recovery, of which so many have come one behind the other. It is random in part, so that all who
// have lost the same task do not come back to it at one moment.
inline std::chrono::milliseconds pause_of_recovery(int count) {
  constexpr std::chrono::milliseconds first{100}, most{5000};
  const std::chrono::milliseconds longest = std::min(first * (1 << std::min(count - 1, 10)), most);
  return longest / 2 + longest * (std::random_device{}() % 1024) / 2048;
}

PINION_DECL run_request request_of_ends(std::initializer_list<feed> feeds,
                                        std::initializer_list<runtime::fetch_end> fetches) {
  run_request request{.feeds = feeds};
  for (const runtime::fetch_end& f : fetches) f.add_to(request.fetches, request.targets);
  return request;
}

}  // namespace detail

PINION_DECL monitored_training_session::~monitored_training_session() {
  if (!made_in_.is_this()) return;  // its training goes on in the parent
  try {
    if (std::uncaught_exceptions() > exceptions_ && !ended_well_)
      abandon();
    else
      close({});
  } catch (...) {
    say(std::string("the end of a monitored session failed: ") + current_error().what());
  }
  unfinalize();
}

PINION_DECL bool monitored_training_session::should_stop() const {
  if (closed_ || stop_ || (noticed_ = signals_.asked())) return true;
  return live_ && live_->has_ended();
}

PINION_DECL pinion::session& monitored_training_session::raw_session() {
  if (pinion::session* const s = live_ ? live_->session() : nullptr) return *s;
  throw error(errc::failed_precondition, "the monitored session is closed").called_at(to_string(closed_at_));
}

PINION_DECL void monitored_training_session::close(source_location where) {
  if (std::exchange(closed_, true)) return;
  closed_at_ = where;
  signals_.closing();
  const auto failed = untold_failure();
  pinion::session* const last = live_->session();
  const std::exception_ptr ended_badly = last ? hooks_->end(*last) : nullptr;
  live_->end(where, !ended_badly && !failed);
  signals_.closed();
  if (ended_badly) std::rethrow_exception(ended_badly);
  say_stopped();
  if (failed) throw *failed;
}

PINION_DECL std::optional<error> monitored_training_session::untold_failure() const {
  auto why = told_ ? std::nullopt : live_->failure();
  return why && !detail::is_consequence(*why) ? why : std::nullopt;
}

PINION_DECL std::vector<any_tensor> monitored_training_session::step(const run_request& request, bool may_end) {
  std::vector<any_tensor> values;
  attempt([&] { values = run_with_hooks(request); }, may_end);
  return values;
}

PINION_DECL void monitored_training_session::abandon() {
  closed_ = true;
  if (live_) live_->drop();
  signals_.closed();
}

PINION_DECL void monitored_training_session::say_stopped() const {
  if (!signals_.asked()) return;
  const std::string stopped = std::string(signals_.name()) + ": training has stopped";
  if (!o_.is_chief) return say(stopped);  // the checkpoints are the chief's
  const std::string saved = o_.checkpoint_dir.empty() ? "" : latest_checkpoint(o_.checkpoint_dir);
  say(stopped + (saved.empty() ? "; there is no checkpoint" : "; the last checkpoint is " + saved));
}

PINION_DECL void monitored_training_session::unfinalize() const {
  if (graph* const g = graph_.get(); g && was_finalized_) g->finalize(false);
}

PINION_DECL monitored_training_session::monitored_training_session(monitored_session_options options,
                                                                   source_location where)
    : o_(std::move(options)),
      graph_(default_graph()),
      signals_(o_.stop_on_signals, {.step = o_.signal_grace_period, .close = o_.stop_grace_period}) {
  o_.config.target = o_.master;
  o_.config.graph = graph_.get();
  o_.log = one_at_a_time(o_.log);
  fill_in(o_);
  hooks_ = std::make_unique<session_hooks>(o_, *graph_);
  std::optional<chief_sign> sign;
  {
    const called_from line(where);
    hooks_->begin();
    o_.scaffold.finalize();
    if (!o_.master.empty()) sign = chief_sign::of_default_graph(where);
  }
  was_finalized_ = !graph_->finalized();
  graph_->finalize();
  try {
    live_.emplace(o_, graph_, *hooks_, signals_, std::move(sign));
    live_->create(false);
  } catch (...) {
    abandon();
    unfinalize();
    throw;
  }
}

// Runs a step again and again until it succeeds or fails for good. `may_end`: the end of the input is no failure.
PINION_DECL void monitored_training_session::attempt(const std::function<void()>& step, bool may_end) {
  throw_if_given_up();
  expect_training();
  noticed_ = signals_.asked();
  for (;;) {
    const std::optional<error> failed = failure_of(step);
    if (!failed) return go_on_after_hooks(may_end);
    if (ends_input(*failed) && may_end) return;
    if (ends_by_signal(*failed)) {
      if (may_end) return;
      throw *failed;
    }
    const bool again = failed->code() == errc::deadline_exceeded && live_->wait_for_chief();
    throw_if_given_up();
    if (again) continue;
    if (!is_recoverable(*failed)) throw *failed;
    if (!recovers(*failed, may_end)) return;
  }
}

// A step that has succeeded stands, though a hook that was called after it has met a lost task: it is not run again.
inline void monitored_training_session::go_on_after_hooks(bool may_end) {
  const auto lost = std::exchange(lost_by_hook_, std::nullopt);
  if (!lost)
    recoveries_ = 0;
  else if (!signals_.asked())
    recovers(*lost, may_end);
}

inline void monitored_training_session::expect_training() {
  if (!closed_ && !stop_ && !noticed_ && !live_->has_ended()) return;
  if (const auto why = untold_failure()) {
    told_ = true;
    throw *why;
  }
  if (noticed_) ended_well_ = true;
  if (noticed_ && !closed_) throw signals_.stopped();
  throw error(errc::failed_precondition, "run() was called although should_stop() is true: training has ended");
}

// Runs a step, unless a thread of the coordinator has failed meanwhile with an error to recover from.
inline std::optional<error> monitored_training_session::failure_of(const std::function<void()>& step) {
  if (auto failed = live_->recoverable_failure()) return failed;
  try {
    const signal_stop::busy now(signals_, *live_->session(), signal_stop::busy::with::step);
    lost_by_hook_.reset();
    step();
    return std::nullopt;
  } catch (const error& e) {
    return because(e);
  }
}

inline bool monitored_training_session::ends_input(const error& failed) {
  if (failed.code() != errc::out_of_range) return false;
  stop_ = ended_well_ = true;
  return true;
}

inline bool monitored_training_session::ends_by_signal(const error& failed) {
  if (!signals_.asked() || !(is_recoverable(failed) || detail::is_consequence(failed))) return false;
  noticed_ = ended_well_ = true;
  return true;
}

// Makes another session. Without one there is nothing left to run: it throws, or returns false where a signal came.
inline bool monitored_training_session::recovers(const error& failed, bool may_end) {
  try {
    recover(failed);
    return true;
  } catch (...) {
    abandon();
    say_stopped();
    if (signals_.asked() && may_end) return false;
    throw;
  }
}

// The reason of a failed step: a thread of the coordinator may have failed first and have caused it.
PINION_DECL error monitored_training_session::because(const error& failed) {
  const auto cause = live_->failure();
  if (!cause || is_recoverable(failed)) return failed;
  if (is_recoverable(*cause)) return *cause;
  if (!detail::is_consequence(failed) || detail::is_consequence(*cause)) return failed;
  told_ = true;
  return *cause;
}

PINION_DECL std::vector<any_tensor> monitored_training_session::run_with_hooks(const run_request& request) {
  std::optional<std::size_t> step_at;
  const auto complete = [&](run_request& all) { step_at = live_->fetch_step(all); };
  session_hooks::ran ran = hooks_->run(*live_->session(), request, complete);
  if (!lost_by_hook_) lost_by_hook_ = std::move(ran.lost);
  stop_ = stop_ || ran.stop_requested;
  if (step_at) live_->note_step(*ran.values[*step_at].data<std::int64_t>());
  ran.values.resize(request.fetches.size());
  return std::move(ran.values);
}

// Makes a new session in place of the one that failed.
PINION_DECL void monitored_training_session::recover(const error& why) {
  if (++recoveries_ > o_.max_recoveries)
    throw error(why.code(), "gave up after " + std::to_string(o_.max_recoveries) +
                                " recoveries without a step that succeeded: " + why.what());
  ++all_recoveries_;
  live_->say_lost(why);
  live_->drop();
  signals_.pause(detail::pause_of_recovery(recoveries_));
  live_->create(true);
}

PINION_DECL void monitored_training_session::throw_if_given_up() {
  if (!live_->has_given_up_chief() || std::exchange(told_, true)) return;
  const error why = *live_->failure();
  abandon();
  throw why;
}

}}}  // namespace pinion::v0::train

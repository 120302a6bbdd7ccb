// Bodies of <pinion/train/session/monitored_session.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <span>

#include <fmt/format.h>

#include <pinion/train/handle.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/session/backoff.hpp>
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
  return coordinator_ && coordinator_->should_stop() && !recoverable_failure();
}

PINION_DECL pinion::session& monitored_training_session::raw_session() {
  if (!session_)
    throw error(errc::failed_precondition, "the monitored session is closed").called_at(to_string(closed_at_));
  return *session_;
}

PINION_DECL void monitored_training_session::close(source_location where) {
  if (std::exchange(closed_, true)) return;
  closed_at_ = where;
  signals_.closing();
  const auto failed = untold_failure();
  const std::exception_ptr ended_badly = session_ ? hooks_->end(*session_) : nullptr;
  end_session(!ended_badly && !failed);
  signals_.closed();
  if (ended_badly) std::rethrow_exception(ended_badly);
  say_stopped();
  if (failed) throw *failed;
}

PINION_DECL std::optional<error> monitored_training_session::recoverable_failure() const {
  auto why = coordinator_ ? coordinator_->failure() : std::nullopt;
  return why && is_recoverable(*why) ? why : std::nullopt;
}

PINION_DECL std::optional<error> monitored_training_session::untold_failure() const {
  auto why = coordinator_ && !told_ ? coordinator_->failure() : std::nullopt;
  return why && !detail::is_consequence(*why) ? why : std::nullopt;
}

PINION_DECL std::vector<any_tensor> monitored_training_session::step(const run_request& request, bool may_end) {
  std::vector<any_tensor> values;
  attempt([&] { values = run_with_hooks(request); }, may_end);
  return values;
}

PINION_DECL void monitored_training_session::end_session(bool takes_leave) {
  if (coordinator_) {
    coordinator_->request_stop();
    try {
      coordinator_->join({.stop_grace_period = o_.stop_grace_period, .ignore_live_threads = true});
    } catch (...) {  // the error of a thread is thrown by close()
    }
  }
  if (session_ && takes_leave && o_.is_chief && sign_) try {
      beginning_->end(*session_);
    } catch (const error&) {  // the workers will report the chief as lost
    }
  if (session_) session_->close(closed_at_);
  coordinator_.reset();  // this joins the threads, whose steps have been cancelled
  session_.reset();
}

PINION_DECL void monitored_training_session::abandon() {
  closed_ = true;
  if (session_) session_->close({});
  end_session();
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
  {
    const called_from line(where);
    hooks_->begin();
    o_.scaffold.finalize();
    if (!o_.master.empty()) sign_ = chief_sign::of_default_graph(where);
  }
  was_finalized_ = !graph_->finalized();
  graph_->finalize();
  try {
    begin();
  } catch (...) {
    abandon();
    unfinalize();
    throw;
  }
}

PINION_DECL void monitored_training_session::begin() {
  beginning_.emplace(o_, sign_);
  if (!o_.master.empty()) tasks_.emplace(*graph_);
  if (sign_ && !o_.is_chief)
    chief_.emplace(*sign_, graph_view(*graph_), chief_monitor::limits{o_.heartbeat, o_.max_wait}, o_.log);
  create_with_backoff(false);
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
    const bool again =
        failed->code() == errc::deadline_exceeded && chief_ && chief_->wait_until_back(*coordinator_, signals_);
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
  if (!closed_ && !stop_ && !noticed_ && (!coordinator_ || !coordinator_->should_stop() || recoverable_failure()))
    return;
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
  if (auto failed = recoverable_failure()) return failed;
  try {
    const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::step);
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

PINION_DECL run_request monitored_training_session::request_of_ends(std::initializer_list<feed> feeds,
                                                                    std::initializer_list<runtime::fetch_end> fetches) {
  run_request request{.feeds = feeds};
  for (const runtime::fetch_end& f : fetches) f.add_to(request.fetches, request.targets);
  return request;
}

// The reason of a failed step: a thread of the coordinator may have failed first and have caused it.
PINION_DECL error monitored_training_session::because(const error& failed) {
  const auto cause = coordinator_ ? coordinator_->failure() : std::nullopt;
  if (!cause || is_recoverable(failed)) return failed;
  if (is_recoverable(*cause)) return *cause;
  if (!detail::is_consequence(failed) || detail::is_consequence(*cause)) return failed;
  told_ = true;
  return *cause;
}

PINION_DECL std::vector<any_tensor> monitored_training_session::run_with_hooks(const run_request& request) {
  std::optional<std::size_t> step_at;
  session_hooks::ran ran = hooks_->run(*session_, request, [&](run_request& all) { step_at = fetch_step(all); });
  if (!lost_by_hook_) lost_by_hook_ = std::move(ran.lost);
  stop_ = stop_ || ran.stop_requested;
  if (step_at) step_ = *ran.values[*step_at].data<std::int64_t>();
  ran.values.resize(request.fetches.size());
  return std::move(ran.values);
}

// Finds the place of the global step among the fetches. On a cluster, where steps may be lost, it is fetched with every
// step; but not before it is known to be initialised.
PINION_DECL std::optional<std::size_t> monitored_training_session::fetch_step(run_request& all) const {
  if (!step_) return std::nullopt;
  const any_expr step = dsl::endpoint_of(handle_of<std::int64_t>(*graph_, graph_->collection("global_step")[0]));
  const auto at = std::find_if(all.fetches.begin(), all.fetches.end(), [&](const any_expr& e) {
    return !e.empty() && e.endpoint(*graph_, "the session's") == step.endpoint(*graph_);
  });
  const auto index = static_cast<std::size_t>(at - all.fetches.begin());
  if (at == all.fetches.end() && o_.master.empty()) return std::nullopt;
  if (at == all.fetches.end()) all.fetches.push_back(step);
  return index;
}

// Makes a new session in place of the one that failed.
PINION_DECL void monitored_training_session::recover(const error& why) {
  if (++recoveries_ > o_.max_recoveries)
    throw error(why.code(), "gave up after " + std::to_string(o_.max_recoveries) +
                                " recoveries without a step that succeeded: " + why.what());
  ++all_recoveries_;
  say_lost(why);
  if (session_) session_->close({});
  end_session();
  signals_.pause(detail::pause_of_recovery(recoveries_));
  create_with_backoff(true);
}

PINION_DECL void monitored_training_session::say_lost(const error& why) const {
  const std::string at = step_ ? fmt::format(" at step {}", *step_) : "";
  if (why.task().empty()) return say(fmt::format("a step failed{}; recovering: {}", at, why.what()));
  const bool self = beginning_ && why.task() == beginning_->own_name();
  say(fmt::format("{} {}{}; recovering: {}", self ? "another task has lost this one," : "lost", why.task(), at,
                  why.what()));
}

// Makes a session. Waits for tasks that are not there and, in a worker, until the chief has made the variables ready.
PINION_DECL void monitored_training_session::create_with_backoff(bool recovers) {
  backoff waiting(
      o_.max_wait, [this](const std::string& line) { say(line); },
      [this](std::chrono::milliseconds length) { signals_.pause(length); });
  for (bool waits_for_chief = false;;) {
    outcome<> created;
    try {
      if (tasks_) tasks_->run(o_.config, waiting.for_an_attempt());
      created = create_session(recovers);
      if (created) return;
    } catch (const error& e) {
      if (signals_.asked()) throw signals_.stopped();
      if (!may_come_back(e)) throw;
      if (coordinator_) say_lost(e), recovers = true;  // a session had begun before it failed
      created = e;
    }
    if (session_) session_->close({});
    end_session();
    const shared_error missing = created.failure();
    const bool for_chief = missing->code() == errc::failed_precondition;
    if (for_chief != std::exchange(waits_for_chief, for_chief)) waiting.begin_anew();
    if (waiting.is_over())
      throw error(errc::deadline_exceeded,
                  fmt::format("Session was not ready after waiting {} secs. {}{}", waiting.waited().count(),
                              for_chief ? "The chief has not initialised the variables: " : "Not all tasks are there: ",
                              missing->what()))
          .in_task(missing->task());
    waiting.pause((for_chief ? "the chief to initialise the variables: " : "tasks: ") + std::string(missing->what()));
  }
}

PINION_DECL outcome<> monitored_training_session::create_session(bool recovers) {
  const auto use = graph_->as_default();
  session_.emplace(o_.config);
  {
    const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::beginning);
    if (sign_) beginning_->learn_own_name(*session_);
    if (o_.is_chief)
      say(beginning_->run(*session_, recovers, step_));
    else if (auto joined = join_chief(recovers); !joined)
      return joined;
    step_ = beginning_->step_in(*session_);
  }
  if (signals_.has_cut_short()) throw signals_.stopped();  // the signal came when all had been done
  coordinator_.emplace(std::vector<errc>{});
  keep_in_touch();
  start_queue_runners(*session_, *coordinator_);
  hooks_->after_create_session(*session_, *coordinator_);
  return {};
}

PINION_DECL outcome<> monitored_training_session::join_chief(bool recovers) {
  try {
    session_->run(o_.scaffold.ready_for_local_init_op);
    session_->run(o_.scaffold.local_init_op);
    session_->run(o_.scaffold.ready_op);
  } catch (const error& e) {
    if (e.code() != errc::failed_precondition) throw;
    return e;
  }
  // Some variables may be there already, and others still: the sign tells, since it is written before all of them. A
  // task that has kept its variables may have lost the sign.
  const auto chief = sign_ ? sign_->look(*session_) : std::nullopt;
  if (!chief && has_seen_sign_) return error(errc::failed_precondition, "there is no sign of the chief");
  has_seen_sign_ |= chief.has_value();
  if (chief && chief->beat == chief_note::writes)
    return error(errc::failed_precondition, chief->name + " has not written all of them yet");
  const auto now = beginning_->step_in(*session_);
  std::string line = recovers ? "recovered" : "the variables are ready: training goes on";
  if (now) line += fmt::format(" at step {}", *now);
  if (now && recovers && step_ && *step_ > *now) line += fmt::format("; this program had seen step {}", *step_);
  say(line);
  return {};
}

// The chief gives its signs, and a worker looks at them. A sign that cannot be written or read is no error here: the
// next step meets the same trouble.
PINION_DECL void monitored_training_session::keep_in_touch() {
  if (!sign_ || o_.heartbeat.count() == 0) return;
  session& on = *session_;
  coordinator& with = *coordinator_;
  if (!o_.is_chief)
    return with.launch("looks whether the chief is there", [this, &on, &with] { chief_->run(on, with); });
  with.launch("tells that the chief is there", [this, &on, &with] {
    while (!with.wait_for_stop(o_.heartbeat / 2)) try {
        beginning_->beat(on);
      } catch (const error&) {
      }
  });
}

PINION_DECL void monitored_training_session::throw_if_given_up() {
  if (!chief_ || !chief_->gave_up() || std::exchange(told_, true)) return;
  const error why = *coordinator_->failure();
  abandon();
  throw why;
}

}}}  // namespace pinion::v0::train

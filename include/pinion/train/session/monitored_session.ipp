// Bodies of <pinion/train/session/monitored_session.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <span>

#include <fmt/format.h>

#include <pinion/op/sync/op.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/session/backoff.hpp>
#include <pinion/train/session/log.hpp>
#include <pinion/train/session/monitored_session.hpp>
#include <pinion/train/session/session_hooks.hpp>

namespace pinion { inline namespace v0 { namespace train {

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
  std::exception_ptr ended_badly;  // every hook gets its end(), so that one failure does not cost the last checkpoint
  if (session_)
    for (const any_hook& h : hooks_) try {
        h.end(*session_);
      } catch (...) {
        if (!ended_badly) ended_badly = std::current_exception();
      }
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
  return why && !is_consequence(*why) ? why : std::nullopt;
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
  hooks_ = hooks_of(o_, *graph_);
  {
    const called_from line(where);
    for (const any_hook& h : hooks_) h.begin();
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
  const graph_view g(*graph_);
  for (node_id id = 0; id < g.size(); ++id) {
    needs_chief_ = needs_chief_ || (g.contains(id) && g[id].op == op::barrier_commit::name);
    has_clocks_ = has_clocks_ || (g.contains(id) && g[id].op == op::clock_tick::name);
  }
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
    const bool again = failed->code() == errc::deadline_exceeded && waits_for_lost_chief();
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
  if (!signals_.asked() || !(is_recoverable(failed) || is_consequence(failed))) return false;
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
  if (!is_consequence(failed) || is_consequence(*cause)) return failed;
  told_ = true;
  return *cause;
}

PINION_DECL std::vector<any_tensor> monitored_training_session::run_with_hooks(const run_request& request) {
  run_context context(*session_, request);
  run_request all = request;
  std::vector<std::size_t> first;   // the place of each hook's first value among the fetches
  std::vector<step_trace*> traces;  // traces that hooks want, besides the caller's own
  for (const any_hook& h : hooks_) {
    run_request more = h.before_run(context);
    first.push_back(all.fetches.size());
    all.feeds.insert(all.feeds.end(), more.feeds.begin(), more.feeds.end());
    all.fetches.insert(all.fetches.end(), more.fetches.begin(), more.fetches.end());
    all.targets.insert(all.targets.end(), more.targets.begin(), more.targets.end());
    if (more.trace) traces.push_back(more.trace);
  }
  first.push_back(all.fetches.size());
  const std::optional<std::size_t> step_at = fetch_step(all);
  step_trace trace;
  if (!all.trace && !traces.empty()) all.trace = &trace;
  std::vector<any_tensor> values = session_->run(all);
  for (step_trace* const wanted : traces) *wanted = *all.trace;
  for (std::size_t i = 0; i < hooks_.size(); ++i) try {
      hooks_[i].after_run(context, std::span(values).subspan(first[i], first[i + 1] - first[i]));
    } catch (const error& e) {
      if (!is_recoverable(e)) throw;
      if (!lost_by_hook_) lost_by_hook_ = e;
    }
  stop_ = stop_ || context.stop_requested();
  if (step_at) step_ = *values[*step_at].data<std::int64_t>();
  values.resize(request.fetches.size());
  return values;
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

PINION_DECL std::chrono::milliseconds monitored_training_session::pause_of_recovery(int count) {
  constexpr std::chrono::milliseconds first{100}, most{5000};
  const std::chrono::milliseconds longest = std::min(first * (1 << std::min(count - 1, 10)), most);
  // Drawn, so that all who have lost the same task do not come back to it at one moment.
  return longest / 2 + longest * (std::random_device{}() % 1024) / 2048;
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
  signals_.pause(pause_of_recovery(recoveries_));
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
  if (sign_ && o_.heartbeat.count() > 0) o_.is_chief ? launch_beats() : launch_watch();
  start_queue_runners(*session_, *coordinator_);
  for (const any_hook& h : hooks_) h.after_create_session(*session_, *coordinator_);
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

// A sign that cannot be written or read is no error here: the next step meets the same trouble.
PINION_DECL void monitored_training_session::launch_beats() {
  coordinator_->launch("tells that the chief is there", [this, &on = *session_, &with = *coordinator_] {
    while (!with.wait_for_stop(o_.heartbeat / 2)) try {
        beginning_->beat(on);
      } catch (const error&) {
      }
  });
}

PINION_DECL void monitored_training_session::launch_watch() {
  coordinator_->launch("looks whether the chief is there",
                       [this, &on = *session_, &with = *coordinator_] { watch_chief(on, with); });
}

PINION_DECL void monitored_training_session::watch_chief(session& on, coordinator& with) {
  chief_watch chief(o_.heartbeat);
  chief_is_lost_ = false;
  auto next_word = chief_watch::clock::now();
  while (!with.wait_for_stop(o_.heartbeat / 4)) {
    try {
      tell_of(chief.see(sign_->look(on), chief_watch::clock::now()), chief);
    } catch (const error&) {
      chief.could_not_look(chief_watch::clock::now());
    }
    if (chief_is_lost_.exchange(chief.is_lost()) != chief.is_lost())
      next_word = chief_watch::clock::now() + std::chrono::seconds(10);
    if (!chief.is_lost()) continue;
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(chief.silence(chief_watch::clock::now()));
    if (needs_chief_ && silence >= o_.max_wait) {
      gave_up_ = true;
      with.request_stop(error(errc::deadline_exceeded,
                              fmt::format("the chief, {}, has been lost for {} s and did not come back, and the steps "
                                          "of this program end only while it is there",
                                          chief.name(), silence.count()))
                            .in_task(chief.name()));
      return on.close({});
    }
    if (chief_watch::clock::now() < next_word) continue;
    next_word += needs_chief_ ? std::chrono::seconds(10) : std::chrono::seconds(60);
    say(fmt::format("the chief, {}, has been lost for {} s: {}", chief.name(), silence.count(), without_chief()));
  }
}

PINION_DECL std::string monitored_training_session::without_chief() const {
  if (has_clocks_) return "training goes on once nobody waits for it any more, but nobody saves until it is back";
  if (!needs_chief_) return "training goes on, but nobody saves until it is back";
  return fmt::format("this program waits for it, for {:g} s at most",
                     std::chrono::duration<double>(o_.max_wait).count());
}

PINION_DECL void monitored_training_session::tell_of(chief_watch::change now, const chief_watch& chief) const {
  if (now == chief_watch::change::lost) say(fmt::format("the chief, {}, is lost: {}", chief.name(), without_chief()));
  if (now == chief_watch::change::back)
    say(fmt::format("the chief, {}, is back after {:.1f} s", chief.name(),
                    std::chrono::duration<double>(chief.silence(chief_watch::clock::now())).count()));
  if (now == chief_watch::change::ended)
    say(fmt::format("the chief, {}, has ended: {}", chief.name(), without_chief()));
}

// Waits for a lost chief, after a step that took too long because of that. Returns true if it is back.
PINION_DECL bool monitored_training_session::waits_for_lost_chief() const {
  if (!needs_chief_ || !chief_is_lost_) return false;
  while (chief_is_lost_ && !signals_.asked() && !coordinator_->wait_for_stop(std::chrono::milliseconds(20))) {
  }
  return !chief_is_lost_;
}

PINION_DECL void monitored_training_session::throw_if_given_up() {
  if (!gave_up_ || std::exchange(told_, true)) return;
  const error why = *coordinator_->failure();
  abandon();
  throw why;
}

}}}  // namespace pinion::v0::train

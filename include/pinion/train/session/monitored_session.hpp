// The session of a training program: it begins by itself, calls hooks around each step, survives tasks that restart,
// and ends when a hook, the input or the chief says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/op/sync/op.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/hooks/checkpoint_saver.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_counter.hpp>
#include <pinion/train/hooks/summary_saver.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/session/beginning.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/chief_watch.hpp>
#include <pinion/train/session/log.hpp>
#include <pinion/train/session/options.hpp>
#include <pinion/train/session/patience.hpp>
#include <pinion/train/session/signal_stop.hpp>
#include <pinion/train/session/task_probe.hpp>

namespace pinion::inline v0::train {

// Owns its session, the threads of its queue runners and copies of its hooks. The default graph when it is made is its
// graph, which it finalizes until it is gone. A step that fails because a task died or restarted (unavailable, aborted)
// is run again in a new session, whose chief keeps the variables or restores the last checkpoint (beginning.hpp). For
// one thread at a time; hooks are called in it. It waits for tasks that are not there, when it begins and when it
// recovers, as long as .max_wait says. A worker sees by a sign on the task of the global step whether the chief is
// there: one whose steps need the chief (sync_replicas) waits for a lost one as long, others go on; both say so. What a
// thread of its coordinator fails with ends training and is thrown by the step that it made fail, by the next run() or
// by close(); it is recovered from where it is of those codes. Everything it throws is pn::error. Its destructor does
// what close() does, unless an exception is under way; then it does not call the hooks' end(). Errors of the destructor
// are logged. Rules: TensorFlow 1.15, monitored_session.py.
// SIGINT or SIGTERM ends training as the end of the input does, after the step under way: should_stop() turns true, and
// the end saves. A loop that does not look gets cancelled at the second step. A second signal ends the process.
class monitored_training_session {
 public:
  explicit monitored_training_session(monitored_session_options options,
                                      source_location where = source_location::current());
  monitored_training_session(const monitored_training_session&) = delete;
  ~monitored_training_session() {
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

  // Has a hook, the end of the input, the coordinator or close() ended training? Then run() is not called any more.
  bool should_stop() const {
    if (closed_ || stop_ || (noticed_ = signals_.asked())) return true;
    return coordinator_ && coordinator_->should_stop() && !recoverable_failure();
  }
  void request_stop() { stop_ = true; }

  // As session::run, with hooks around it. A step that meets the end of its input (out_of_range) ends training; one
  // that fetches nothing then returns, one that fetches throws that error. failed_precondition: should_stop() is true.
  template <dsl::fetchable... F>
  auto run(const F&... fetches) {
    return run(std::initializer_list<feed>{}, fetches...);
  }
  template <dsl::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    constexpr bool fetches_nothing = std::tuple_size_v<dsl::fetched_tuple<F...>> == 0;
    return taken<F...>(step(request_of(feeds, fetches...), fetches_nothing));
  }
  std::vector<any_tensor> run(const run_request& request) { return step(request, false); }

  // What a function of run_step_fn() gets. Valid during the call.
  class step_context {
   public:
    // Without hooks.
    pinion::session& session() const { return *of_.session_; }
    // As run(), but that what fails is thrown: the whole function is called again.
    template <dsl::fetchable... F>
    auto run_with_hooks(const F&... fetches) const {
      return run_with_hooks(std::initializer_list<feed>{}, fetches...);
    }
    template <dsl::fetchable... F>
    auto run_with_hooks(std::initializer_list<feed> feeds, const F&... fetches) const {
      return taken<F...>(of_.run_with_hooks(request_of(feeds, fetches...)));
    }
    std::vector<any_tensor> run_with_hooks(const run_request& request) const { return of_.run_with_hooks(request); }
    // The session should_stop() once the function has returned.
    void request_stop() const { of_.request_stop(); }

   private:
    friend monitored_training_session;
    explicit step_context(monitored_training_session& of) : of_(of) {}
    monitored_training_session& of_;
  };

  // A step that is more than one run: calls a function of a step_context and returns what it returns. Where a task died
  // in it, it is called again, from its beginning, in a new session. failed_precondition: should_stop() is true.
  template <class Function>
  auto run_step_fn(Function&& function) -> std::invoke_result_t<Function&, step_context> {
    using result = std::invoke_result_t<Function&, step_context>;
    if constexpr (std::is_void_v<result>) {
      attempt([&] { function(step_context(*this)); }, true);
    } else {
      std::optional<result> made;
      attempt([&] { made.emplace(function(step_context(*this))); }, false);
      return std::move(*made);
    }
  }

  // The session below, without hooks; another one after each recovery.
  pinion::session& raw_session() {
    if (!session_)
      throw error(errc::failed_precondition, "the monitored session is closed").called_at(to_string(closed_at_));
    return *session_;
  }
  // For what takes a session: saver.save(sess, ...).
  operator pinion::session&() { return raw_session(); }
  int recoveries() const { return all_recoveries_; }

  // Calls the hooks' end(), stops the threads, closes the session; throws what a thread had failed with, if run() has
  // not. Twice is harmless.
  void close(source_location where = source_location::current()) {
    if (std::exchange(closed_, true)) return;
    closed_at_ = where;
    signals_.closing();
    const auto failed = untold_failure();
    std::exception_ptr ended_badly;  // each has its end, so that one's failure does not cost the last checkpoint
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

 private:
  template <class... F>
  static run_request request_of(std::initializer_list<feed> feeds, const F&... fetches) {
    run_request request{.feeds = feeds};
    (add(request, fetches), ...);
    return request;
  }
  template <class... F>
  static auto taken([[maybe_unused]] std::vector<any_tensor> values) {
    if constexpr (std::tuple_size_v<dsl::fetched_tuple<F...>> != 0)
      return dsl::bare(dsl::take_tuple<dsl::fetched_tuple<F...>>(values));
  }
  template <class F>
  static void add(run_request& r, const F& f) {
    if constexpr (std::is_same_v<F, operation>)
      r.targets.push_back(f);
    else
      r.fetches.push_back(dsl::endpoint_of(f));
  }
  static bool is_recoverable(const error& e) { return e.code() == errc::aborted || e.code() == errc::unavailable; }
  // What a step fails with when the threads of the coordinator are stopped, since they close the queues that they fill;
  // and a thread when another program does.
  static bool is_consequence(const error& e) { return e.code() == errc::cancelled || e.code() == errc::out_of_range; }

  // Of a thread of the coordinator.
  std::optional<error> recoverable_failure() const {
    auto why = coordinator_ ? coordinator_->failure() : std::nullopt;
    return why && is_recoverable(*why) ? why : std::nullopt;
  }
  std::optional<error> untold_failure() const {
    auto why = coordinator_ && !told_ ? coordinator_->failure() : std::nullopt;
    return why && !is_consequence(*why) ? why : std::nullopt;
  }
  void add_hooks();
  std::vector<any_tensor> step(const run_request& request, bool may_end) {
    std::vector<any_tensor> values;
    attempt([&] { values = run_with_hooks(request); }, may_end);
    return values;
  }
  void attempt(const std::function<void()>& step, bool may_end);
  std::vector<any_tensor> run_with_hooks(const run_request& request);
  error because(const error& failed);
  std::optional<std::size_t> fetch_step(run_request& all) const;

  // ---- sessions -----------------------------------------------------------------------------------------------------

  void begin();
  void recover(const error& why);
  void say_lost(const error& why) const;
  void create_with_patience(bool recovers);
  std::optional<error> create_session(bool recovers);
  std::optional<error> join_chief(bool recovers);

  // ---- the chief and the others -------------------------------------------------------------------------------------

  void launch_beats();
  void launch_watch();
  void watch_chief(session& on, coordinator& with);
  void tell_of(chief_watch::change now, const chief_watch& chief) const;
  std::string without_chief() const;
  bool waits_for_lost_chief() const;
  void throw_if_given_up();

  // takes_leave: for good, and nobody shall miss the chief.
  void end_session(bool takes_leave = false) {
    if (coordinator_) {
      coordinator_->request_stop();
      try {
        coordinator_->join({.stop_grace_period = o_.stop_grace_period, .ignore_live_threads = true});
      } catch (...) {  // of a thread: see close()
      }
    }
    if (session_ && takes_leave && o_.is_chief && sign_) try {
        beginning_->end(*session_);
      } catch (const error&) {  // they will say that it is lost
      }
    if (session_) session_->close(closed_at_);
    coordinator_.reset();  // joins its threads, whose steps have been cancelled
    session_.reset();
  }
  void abandon() {
    closed_ = true;
    if (session_) session_->close({});
    end_session();
    signals_.closed();
  }
  void say_stopped() const {
    if (!signals_.asked()) return;
    const std::string saved = o_.checkpoint_dir.empty() ? "" : latest_checkpoint(o_.checkpoint_dir);
    say(fmt::format("{}: training has stopped; {}", signals_.name(),
                    !o_.is_chief    ? "its chief saves"
                    : saved.empty() ? "there is no checkpoint"
                                    : "the last checkpoint is " + saved));
  }
  void unfinalize() const {
    if (graph* const g = graph_.get(); g && was_finalized_) g->finalize(false);
  }
  void say(const std::string& line) const { o_.log(line); }

  monitored_session_options o_;
  const graph_ref graph_;
  std::vector<any_hook> hooks_;
  std::optional<pinion::session> session_;
  std::optional<coordinator> coordinator_;
  const int exceptions_ = std::uncaught_exceptions();
  source_location closed_at_;  // unknown where nobody called close()
  bool stop_ = false, closed_ = false, ended_well_ = false, was_finalized_ = false;
  bool told_ = false;             // of a thread's failure
  mutable bool noticed_ = false;  // a signal has come, and should_stop() has said so or one more step has begun
  signal_stop signals_;
  int recoveries_ = 0, all_recoveries_ = 0;

  std::optional<task_probe> tasks_;  // of a session on a cluster, as the next
  std::optional<chief_sign> sign_;
  std::optional<beginning> beginning_;                         // of the chief; a worker asks it for the step alone
  bool needs_chief_ = false;                                   // steps of this program end only while there is one
  std::atomic<bool> chief_is_lost_ = false, gave_up_ = false;  // of the thread that looks
  std::optional<std::int64_t> step_;                           // the last that was seen
};

inline monitored_training_session::monitored_training_session(monitored_session_options options, source_location where)
    : o_(std::move(options)),
      graph_(default_graph()),
      signals_(o_.stop_on_signals, {.step = o_.signal_grace_period, .close = o_.stop_grace_period}) {
  o_.config.target = o_.master;
  o_.config.graph = graph_.get();
  o_.log = one_at_a_time(o_.log);
  add_hooks();
  {
    const called_from line(where);
    for (const any_hook& h : hooks_) h.begin();
    o_.scaffold.finalize();
    if (!o_.master.empty()) sign_ = chief_sign::of_default_graph(where);
  }
  graph_->settle();
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

inline void monitored_training_session::begin() {
  beginning_.emplace(o_, sign_);
  if (!o_.master.empty()) tasks_.emplace(*graph_);
  for (node_id id = 0; id < graph_->size(); ++id)
    needs_chief_ = needs_chief_ || (graph_->contains(id) && (*graph_)[id].op == op::barrier_commit::name);
  create_with_patience(false);
}

// Those of the chief come first: the caller's own, the counter, summaries; then everybody's. The checkpoints come last
// (in TensorFlow before everybody's): what others refuse is not saved, and what their end() leaves is.
inline void monitored_training_session::add_hooks() {
  const auto never = [](auto& value) {
    if (value && *value == 0) value.reset();
  };
  const bool default_checkpoints = !o_.save_checkpoint_secs && !o_.save_checkpoint_steps;
  const bool default_summaries = !o_.save_summaries_secs && !o_.save_summaries_steps;
  if (default_checkpoints) o_.save_checkpoint_secs = 600;
  if (default_summaries) o_.save_summaries_steps = 100;
  never(o_.save_checkpoint_secs);
  never(o_.save_checkpoint_steps);
  never(o_.save_summaries_secs);
  never(o_.save_summaries_steps);
  if (o_.summary_dir.empty()) o_.summary_dir = o_.checkpoint_dir;
  if (!o_.scaffold.saver) o_.scaffold.saver = std::make_shared<saver>();
  if (o_.is_chief) {
    hooks_ = o_.chief_only_hooks;
    const bool writes = !o_.summary_dir.empty(), counts = o_.log_step_count_steps.value_or(100) > 0;
    const bool summaries = writes && (o_.save_summaries_secs || o_.save_summaries_steps);
    std::shared_ptr<summary_writer> writer;
    if ((writes && counts) || summaries) writer = std::make_shared<summary_writer>(o_.summary_dir);
    if (counts && (writes || !graph_->collection("global_step").empty()))
      hooks_.push_back(step_counter({.every_n_steps = o_.log_step_count_steps.value_or(100),
                                     .writer = writer,
                                     .log = o_.log,
                                     .least_secs = o_.log_step_count_steps ? 0. : 1.,
                                     .warn = o_.log}));
    if (summaries)
      hooks_.push_back(summary_saver({.save_steps = o_.save_summaries_steps,
                                      .save_secs = o_.save_summaries_secs,
                                      .writer = writer,
                                      .summary_op = o_.scaffold.summary_op,
                                      .warn = o_.log}));
  }
  hooks_.insert(hooks_.end(), o_.hooks.begin(), o_.hooks.end());
  if (o_.is_chief && !o_.checkpoint_dir.empty() && (o_.save_checkpoint_secs || o_.save_checkpoint_steps))
    hooks_.push_back(checkpoint_saver({.dir = o_.checkpoint_dir,
                                       .save_steps = o_.save_checkpoint_steps,
                                       .save_secs = o_.save_checkpoint_secs,
                                       .saver = o_.scaffold.saver,
                                       .max_failed_saves = o_.max_failed_saves,
                                       .log = o_.log,
                                       .warn = o_.log}));
}

// Again and again, until it succeeds or fails for good; may_end: then the end of the input is no failure.
inline void monitored_training_session::attempt(const std::function<void()>& step, bool may_end) {
  throw_if_given_up();
  if (closed_ || stop_ || noticed_ || (coordinator_ && coordinator_->should_stop() && !recoverable_failure())) {
    if (const auto why = untold_failure()) {
      told_ = true;
      throw *why;
    }
    if (noticed_) ended_well_ = true;
    if (noticed_ && !closed_) throw signals_.stopped();
    throw error(errc::failed_precondition, "run() was called although should_stop() is true: training has ended");
  }
  noticed_ = signals_.asked();
  for (;;) {
    std::optional<error> failed = recoverable_failure();
    if (!failed) try {
        const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::step);
        step();
        recoveries_ = 0;
        return;
      } catch (const error& e) {
        failed = because(e);
      }
    if (failed->code() == errc::out_of_range) {
      stop_ = ended_well_ = true;
      if (may_end) return;
    }
    if (signals_.asked() && (is_recoverable(*failed) || is_consequence(*failed))) {
      noticed_ = ended_well_ = true;
      if (may_end) return;
      throw *failed;
    }
    const bool again = failed->code() == errc::deadline_exceeded && waits_for_lost_chief();
    throw_if_given_up();
    if (again) continue;
    if (!is_recoverable(*failed)) throw *failed;
    try {
      recover(*failed);
    } catch (...) {  // without a session there is nothing left to run
      abandon();
      say_stopped();
      if (signals_.asked() && may_end) return;
      throw;
    }
  }
}

// What made a thread of the coordinator fail may be why the step did.
inline error monitored_training_session::because(const error& failed) {
  const auto cause = coordinator_ ? coordinator_->failure() : std::nullopt;
  if (!cause || is_recoverable(failed)) return failed;
  if (is_recoverable(*cause)) return *cause;
  if (!is_consequence(failed) || is_consequence(*cause)) return failed;
  told_ = true;
  return *cause;
}

inline std::vector<any_tensor> monitored_training_session::run_with_hooks(const run_request& request) {
  run_context context(*session_, request);
  run_request all = request;
  std::vector<std::size_t> first;   // of each hook, among the fetches
  std::vector<step_trace*> traces;  // those that hooks want, beside the caller's own
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
  for (std::size_t i = 0; i < hooks_.size(); ++i)
    hooks_[i].after_run(context, std::span(values).subspan(first[i], first[i + 1] - first[i]));
  stop_ = stop_ || context.stop_requested();
  if (step_at) step_ = *values[*step_at].data<std::int64_t>();
  values.resize(request.fetches.size());
  return values;
}

// Where the global step is among the fetches of a step; on a cluster, of which steps may be lost, it is fetched with
// every step. Not before it is known to be initialised.
inline std::optional<std::size_t> monitored_training_session::fetch_step(run_request& all) const {
  if (!step_) return std::nullopt;
  const any_expr step = dsl::endpoint_of(handle_of<std::int64_t>(*graph_, graph_->collection("global_step")[0]));
  const auto at = std::find_if(all.fetches.begin(), all.fetches.end(),
                               [&](const any_expr& e) { return !e.empty() && e.endpoint() == step.endpoint(); });
  const auto index = static_cast<std::size_t>(at - all.fetches.begin());
  if (at == all.fetches.end() && o_.master.empty()) return std::nullopt;
  if (at == all.fetches.end()) all.fetches.push_back(step);
  return index;
}

// ---- sessions, again and again ------------------------------------------------------------------------------------

// In place of the session that failed.
inline void monitored_training_session::recover(const error& why) {
  if (++recoveries_ > o_.max_recoveries)
    throw error(why.code(), "gave up after " + std::to_string(o_.max_recoveries) +
                                " recoveries without a step that succeeded: " + why.what());
  ++all_recoveries_;
  say_lost(why);
  if (session_) session_->close({});
  end_session();
  signals_.pause(
      std::min(std::chrono::milliseconds(100) * (1 << std::min(recoveries_ - 1, 10)), std::chrono::milliseconds(5000)));
  create_with_patience(true);
}

inline void monitored_training_session::say_lost(const error& why) const {
  const std::string at = step_ ? fmt::format(" at step {}", *step_) : "";
  say(why.task().empty() ? fmt::format("a step failed{}; recovering: {}", at, why.what())
                         : fmt::format("lost {}{}; recovering: {}", why.task(), at, why.what()));
}

// Waits for tasks that are not there and, unless it is the chief, until the chief has made the variables ready.
inline void monitored_training_session::create_with_patience(bool recovers) {
  patience waiting(
      o_.max_wait, [this](const std::string& line) { say(line); },
      [this](std::chrono::milliseconds length) { signals_.pause(length); });
  for (;;) {
    std::optional<error> missing;
    try {
      if (tasks_) tasks_->run(o_.config, waiting.for_an_attempt());
      missing = create_session(recovers);
      if (!missing) return;
    } catch (const error& e) {
      if (signals_.asked()) throw signals_.stopped();
      if (!may_come_back(e)) throw;
      if (coordinator_) say_lost(e), recovers = true;  // it had begun
      missing = e;
    }
    if (session_) session_->close({});
    end_session();
    const bool for_chief = missing->code() == errc::failed_precondition;
    if (waiting.is_over())
      throw error(errc::deadline_exceeded,
                  fmt::format("Session was not ready after waiting {} secs. {}{}", waiting.waited().count(),
                              for_chief ? "The chief has not initialised the variables: " : "Not all tasks are there: ",
                              missing->what()))
          .in_task(missing->task());
    waiting.pause((for_chief ? "the chief to initialise the variables: " : "tasks: ") + std::string(missing->what()));
  }
}

// Returns why a worker's variables are not ready, if they are not.
inline std::optional<error> monitored_training_session::create_session(bool recovers) {
  const auto use = graph_->as_default();
  session_.emplace(o_.config);
  {
    const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::beginning);
    if (o_.is_chief)
      say(beginning_->run(*session_, recovers, step_));
    else if (auto missing = join_chief(recovers))
      return missing;
    step_ = beginning_->step_in(*session_);
  }
  coordinator_.emplace(std::vector<errc>{});
  if (sign_ && o_.heartbeat.count() > 0) o_.is_chief ? launch_beats() : launch_watch();
  start_queue_runners(*session_, *coordinator_);
  for (const any_hook& h : hooks_) h.after_create_session(*session_, *coordinator_);
  return std::nullopt;
}

inline std::optional<error> monitored_training_session::join_chief(bool recovers) {
  try {
    session_->run(o_.scaffold.ready_for_local_init_op);
    session_->run(o_.scaffold.local_init_op);
    session_->run(o_.scaffold.ready_op);
  } catch (const error& e) {
    if (e.code() != errc::failed_precondition) throw;
    return e;
  }
  const auto now = beginning_->step_in(*session_);
  std::string line = recovers ? "recovered" : "the variables are ready: training goes on";
  if (now) line += fmt::format(" at step {}", *now);
  if (now && recovers && step_ && *step_ > *now) line += fmt::format("; this program had seen step {}", *step_);
  say(line);
  return std::nullopt;
}

// ---- the chief and the others -------------------------------------------------------------------------------------

// A sign that cannot be put or seen is nothing to fail for: the next step meets whatever it was.
inline void monitored_training_session::launch_beats() {
  coordinator_->launch("tells that the chief is there", [this, &on = *session_, &with = *coordinator_] {
    while (!with.wait_for_stop(o_.heartbeat / 2)) try {
        beginning_->beat(on);
      } catch (const error&) {
      }
  });
}

inline void monitored_training_session::launch_watch() {
  coordinator_->launch("looks whether the chief is there",
                       [this, &on = *session_, &with = *coordinator_] { watch_chief(on, with); });
}

inline void monitored_training_session::watch_chief(session& on, coordinator& with) {
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

inline std::string monitored_training_session::without_chief() const {
  if (!needs_chief_) return "training goes on, but nobody saves until it is back";
  return fmt::format("this program waits for it, for {:g} s at most",
                     std::chrono::duration<double>(o_.max_wait).count());
}

inline void monitored_training_session::tell_of(chief_watch::change now, const chief_watch& chief) const {
  if (now == chief_watch::change::lost) say(fmt::format("the chief, {}, is lost: {}", chief.name(), without_chief()));
  if (now == chief_watch::change::back)
    say(fmt::format("the chief, {}, is back after {:.1f} s", chief.name(),
                    std::chrono::duration<double>(chief.silence(chief_watch::clock::now())).count()));
}

// For a step that took too long because the chief is lost: waits for that. True: it is back.
inline bool monitored_training_session::waits_for_lost_chief() const {
  if (!needs_chief_ || !chief_is_lost_) return false;
  while (chief_is_lost_ && !signals_.asked() && !coordinator_->wait_for_stop(std::chrono::milliseconds(20))) {
  }
  return !chief_is_lost_;
}

inline void monitored_training_session::throw_if_given_up() {
  if (!gave_up_ || std::exchange(told_, true)) return;
  const error why = *coordinator_->failure();
  abandon();
  throw why;
}

}  // namespace pinion::inline v0::train

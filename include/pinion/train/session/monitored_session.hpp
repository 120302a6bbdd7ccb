// The session of a training program: it begins by itself, calls hooks around each step, survives tasks that restart,
// and ends when a hook, the input or the chief says so.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/train/coordinator.hpp>
#include <pinion/train/hooks/checkpoint_saver.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_counter.hpp>
#include <pinion/train/hooks/summary_saver.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/session/scaffold.hpp>
#include <pinion/train/session/signal_stop.hpp>

namespace pinion::inline v0::train {

struct monitored_session_options {
  std::string master = {};          // "" this process, or "pinion://host:port"
  bool is_chief = true;             // who initialises or restores, and saves; the others wait for that
  std::string checkpoint_dir = {};  // restored from if it has a checkpoint; saved to. Empty: neither
  pinion::train::scaffold scaffold = {};
  std::vector<any_hook> hooks = {};
  std::vector<any_hook> chief_only_hooks = {};
  std::optional<double> save_checkpoint_secs = {};         // 600 where no steps are given either; 0: never
  std::optional<std::int64_t> save_checkpoint_steps = {};  // 0: never
  std::optional<std::int64_t> save_summaries_steps = {};   // 100 where no seconds are given either; 0: never
  std::optional<double> save_summaries_secs = {};          // 0: never
  session_options config = {};
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);  // for threads to end
  std::int64_t log_step_count_steps = 100;                                  // 0: never
  std::chrono::milliseconds max_wait = std::chrono::seconds(7200);          // of a worker for the chief
  std::string summary_dir = {};                                             // empty: checkpoint_dir
  int max_recoveries = 100;                                                 // in a row, without a step that succeeds
  text_sink log = {};           // what it waits for, and why it recovers; standard error where empty
  bool stop_on_signals = true;  // SIGINT and SIGTERM end training, where they have no handler and are not ignored
  std::chrono::milliseconds signal_grace_period = std::chrono::seconds(5);  // for the step under way; then cancelled
};

// Owns its session, the threads of its queue runners and copies of its hooks. The default graph when it is made is its
// graph, which it finalizes until it is gone. A step that fails because a task died or restarted (unavailable, aborted)
// is run again in a new session, whose chief restores the last checkpoint. For one thread at a time; hooks are called
// in it. What a thread of its coordinator fails with ends training and is thrown by the step that it made fail, by the
// next run() or by close(); it is recovered from where it is of those codes. Everything it throws is pn::error. Its
// destructor does what close() does, unless an exception is under way; then it does not call the hooks' end(). Errors
// of the destructor are logged. Rules: TensorFlow 1.15, monitored_session.py.
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
        close();
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
    if (!session_) throw error(errc::failed_precondition, "the monitored session is closed");
    return *session_;
  }
  // For what takes a session: saver.save(sess, ...).
  operator pinion::session&() { return raw_session(); }
  int recoveries() const { return all_recoveries_; }

  // Calls the hooks' end(), stops the threads, closes the session; throws what a thread had failed with, if run() has
  // not. Twice is harmless.
  void close() {
    if (std::exchange(closed_, true)) return;
    signals_.closing();
    const auto failed = untold_failure();
    std::exception_ptr ended_badly;  // each has its end, so that one's failure does not cost the last checkpoint
    if (session_)
      for (const any_hook& h : hooks_) try {
          h.end(*session_);
        } catch (...) {
          if (!ended_badly) ended_badly = std::current_exception();
        }
    end_session();
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

  // ---- sessions -----------------------------------------------------------------------------------------------------

  void create_session();
  void create_with_patience(const error* why);
  void begin_as_chief();
  void wait_for_chief();
  void end_session() {
    if (coordinator_) {
      coordinator_->request_stop();
      try {
        coordinator_->join({.stop_grace_period = o_.stop_grace_period, .ignore_live_threads = true});
      } catch (...) {  // of a thread: see close()
      }
    }
    if (session_) session_->close();
    coordinator_.reset();  // joins its threads, whose steps have been cancelled
    session_.reset();
  }
  void abandon() {
    closed_ = true;
    if (session_) session_->close();
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
  void say(const std::string& line) const { o_.log ? o_.log(line) : fmt::print(stderr, "{}\n", line); }

  monitored_session_options o_;
  const graph_ref graph_;
  std::vector<any_hook> hooks_;
  std::optional<pinion::session> session_;
  std::optional<coordinator> coordinator_;
  const int exceptions_ = std::uncaught_exceptions();
  bool stop_ = false, closed_ = false, ended_well_ = false, was_finalized_ = false;
  bool told_ = false;  // of a thread's failure
  mutable bool noticed_ = false;  // a signal has come, and should_stop() has said so or one more step has begun
  signal_stop signals_;
  int recoveries_ = 0, all_recoveries_ = 0;
};

inline monitored_training_session::monitored_training_session(monitored_session_options options, source_location where)
    : o_(std::move(options)),
      graph_(default_graph()),
      signals_(o_.stop_on_signals, {.step = o_.signal_grace_period, .close = o_.stop_grace_period}) {
  o_.config.target = o_.master;
  o_.config.graph = graph_.get();
  add_hooks();
  {
    const called_from line(where);
    for (const any_hook& h : hooks_) h.begin();
    o_.scaffold.finalize();
  }
  graph_->settle();
  was_finalized_ = !graph_->finalized();
  graph_->finalize();
  try {
    create_with_patience(nullptr);
  } catch (...) {
    abandon();
    unfinalize();
    throw;
  }
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
    if (!o_.summary_dir.empty()) {
      const bool summaries = o_.save_summaries_secs || o_.save_summaries_steps;
      std::shared_ptr<summary_writer> writer;
      if (o_.log_step_count_steps > 0 || summaries) writer = std::make_shared<summary_writer>(o_.summary_dir);
      if (o_.log_step_count_steps > 0)
        hooks_.push_back(step_counter({.every_n_steps = o_.log_step_count_steps, .writer = writer, .warn = o_.log}));
      if (summaries)
        hooks_.push_back(summary_saver({.save_steps = o_.save_summaries_steps,
                                        .save_secs = o_.save_summaries_secs,
                                        .writer = writer,
                                        .summary_op = o_.scaffold.summary_op}));
    }
  }
  hooks_.insert(hooks_.end(), o_.hooks.begin(), o_.hooks.end());
  if (o_.is_chief && !o_.checkpoint_dir.empty() && (o_.save_checkpoint_secs || o_.save_checkpoint_steps))
    hooks_.push_back(checkpoint_saver({.dir = o_.checkpoint_dir,
                                       .save_steps = o_.save_checkpoint_steps,
                                       .save_secs = o_.save_checkpoint_secs,
                                       .saver = o_.scaffold.saver}));
}

// Again and again, until it succeeds or fails for good; may_end: then the end of the input is no failure.
inline void monitored_training_session::attempt(const std::function<void()>& step, bool may_end) {
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
    if (!is_recoverable(*failed)) throw *failed;
    try {
      create_with_patience(&*failed);
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
  step_trace trace;
  if (!all.trace && !traces.empty()) all.trace = &trace;
  std::vector<any_tensor> values = session_->run(all);
  for (step_trace* const wanted : traces) *wanted = *all.trace;
  for (std::size_t i = 0; i < hooks_.size(); ++i)
    hooks_[i].after_run(context, std::span(values).subspan(first[i], first[i + 1] - first[i]));
  stop_ = stop_ || context.stop_requested();
  values.resize(request.fetches.size());
  return values;
}

// A new session in place of one that failed, until one can be made: pauses grow from a tenth of a second to five.
inline void monitored_training_session::create_with_patience(const error* why) {
  std::optional<error> cause;
  if (why) cause = *why;
  for (auto pause = std::chrono::milliseconds(100);; pause = std::min(2 * pause, std::chrono::milliseconds(5000))) {
    if (cause) {
      if (++recoveries_ > o_.max_recoveries)
        throw error(cause->code(), "gave up after " + std::to_string(o_.max_recoveries) +
                                       " recoveries without a step that succeeded: " + cause->what());
      ++all_recoveries_;
      say(fmt::format("recovering, in {} ms, from: {}", pause.count(), cause->what()));
      if (session_) session_->close();
      end_session();
      signals_.pause(pause);
    }
    try {
      return create_session();
    } catch (const error& e) {
      if (signals_.asked()) throw signals_.stopped();
      if (!is_recoverable(e)) throw;
      cause = e;
    }
  }
}

inline void monitored_training_session::create_session() {
  const auto use = graph_->as_default();
  if (o_.is_chief)
    begin_as_chief();
  else
    wait_for_chief();
  coordinator_.emplace(std::vector<errc>{});
  start_queue_runners(*session_, *coordinator_);
  for (const any_hook& h : hooks_) h.after_create_session(*session_, *coordinator_);
}

inline void monitored_training_session::begin_as_chief() {
  session_.emplace(o_.config);
  const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::beginning);
  o_.scaffold.saver->settle();  // what is being written may be the last checkpoint
  const std::string latest = o_.checkpoint_dir.empty() ? "" : latest_checkpoint(o_.checkpoint_dir);
  if (!latest.empty()) {
    o_.scaffold.saver->restore(*session_, latest);
    o_.scaffold.saver->recover_last_checkpoints(o_.checkpoint_dir);
  } else {
    session_->run(run_request{.feeds = o_.scaffold.init_feeds, .targets = {o_.scaffold.init_op}});
    if (o_.scaffold.init_fn) o_.scaffold.init_fn(*session_);
  }
  session_->run(o_.scaffold.ready_for_local_init_op);
  session_->run(o_.scaffold.local_init_op);
  session_->run(o_.scaffold.ready_op);
}

inline void monitored_training_session::wait_for_chief() {
  const auto began = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::steady_clock::now() - began; };
  const auto seconds = [](auto d) { return std::chrono::duration_cast<std::chrono::seconds>(d).count(); };
  auto next_word = std::chrono::seconds(1);
  for (auto pause = std::chrono::milliseconds(20);; pause = std::min(2 * pause, std::chrono::milliseconds(1000))) {
    session_.emplace(o_.config);
    std::string missing;
    try {
      const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::beginning);
      session_->run(o_.scaffold.ready_for_local_init_op);
      session_->run(o_.scaffold.local_init_op);
      session_->run(o_.scaffold.ready_op);
      return;
    } catch (const error& e) {
      if (e.code() != errc::failed_precondition && e.code() != errc::deadline_exceeded) throw;
      missing = e.what();
    }
    session_.reset();
    if (waited() + pause > o_.max_wait)
      throw error(errc::deadline_exceeded, "Session was not ready after waiting " + std::to_string(seconds(waited())) +
                                               " secs. The chief has not initialised the variables: " + missing);
    if (waited() > next_word) {
      say(fmt::format("waited {} s for the chief to initialise the variables: {}", seconds(waited()), missing));
      next_word *= 2;
    }
    signals_.pause(pause);
  }
}

}  // namespace pinion::inline v0::train

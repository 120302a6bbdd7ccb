// The session of a training program: it begins by itself, calls hooks around each step, survives tasks that restart,
// and ends when a hook, the input or the chief says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/session/beginning.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/chief_watch.hpp>
#include <pinion/train/session/options.hpp>
#include <pinion/train/session/signal_stop.hpp>
#include <pinion/train/session/task_probe.hpp>

namespace pinion { inline namespace v0 { namespace train {

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
  ~monitored_training_session();

  // Has a hook, the end of the input, the coordinator or close() ended training? Then run() is not called any more.
  bool should_stop() const;
  void request_stop() { stop_ = true; }

  // As session::run, with hooks around it. A step that meets the end of its input (out_of_range) ends training; one
  // that fetches nothing then returns, one that fetches throws that error. failed_precondition: should_stop() is true.
  template <runtime::fetchable... F>
  auto run(const F&... fetches) {
    return run(std::initializer_list<feed>{}, fetches...);
  }
  template <runtime::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    constexpr bool fetches_nothing = std::tuple_size_v<runtime::fetched_tuple<F...>> == 0;
    return runtime::taken<F...>(step(request_of(feeds, fetches...), fetches_nothing));
  }
  std::vector<any_tensor> run(const run_request& request) { return step(request, false); }

  // What a function of run_step_fn() gets. Valid during the call.
  class step_context {
   public:
    // Without hooks.
    pinion::session& session() const { return *of_.session_; }
    // As run(), but that what fails is thrown: the whole function is called again.
    template <runtime::fetchable... F>
    auto run_with_hooks(const F&... fetches) const {
      return run_with_hooks(std::initializer_list<feed>{}, fetches...);
    }
    template <runtime::fetchable... F>
    auto run_with_hooks(std::initializer_list<feed> feeds, const F&... fetches) const {
      return runtime::taken<F...>(of_.run_with_hooks(request_of(feeds, fetches...)));
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
  pinion::session& raw_session();
  // For what takes a session: saver.save(sess, ...).
  operator pinion::session&() { return raw_session(); }
  int recoveries() const { return all_recoveries_; }

  // Calls the hooks' end(), stops the threads, closes the session; throws what a thread had failed with, if run() has
  // not. Twice is harmless.
  void close(source_location where = source_location::current());

 private:
  template <class... F>
  static run_request request_of(std::initializer_list<feed> feeds, const F&... fetches) {
    return request_of_ends(feeds, {fetches...});
  }
  static run_request request_of_ends(std::initializer_list<feed> feeds,
                                     std::initializer_list<runtime::fetch_end> fetches);
  static bool is_recoverable(const error& e) { return e.code() == errc::aborted || e.code() == errc::unavailable; }
  // What a step fails with when the threads of the coordinator are stopped, since they close the queues that they fill;
  // and a thread when another program does.
  static bool is_consequence(const error& e) { return e.code() == errc::cancelled || e.code() == errc::out_of_range; }

  // Of a thread of the coordinator.
  std::optional<error> recoverable_failure() const;
  std::optional<error> untold_failure() const;
  void add_hooks();
  std::vector<any_tensor> step(const run_request& request, bool may_end);
  void attempt(const std::function<void()>& step, bool may_end);
  std::vector<any_tensor> run_with_hooks(const run_request& request);
  error because(const error& failed);
  std::optional<std::size_t> fetch_step(run_request& all) const;

  // ---- sessions

  void begin();
  void recover(const error& why);
  void say_lost(const error& why) const;
  void create_with_patience(bool recovers);
  std::optional<error> create_session(bool recovers);
  std::optional<error> join_chief(bool recovers);

  // ---- the chief and the others

  void launch_beats();
  void launch_watch();
  void watch_chief(session& on, coordinator& with);
  void tell_of(chief_watch::change now, const chief_watch& chief) const;
  std::string without_chief() const;
  bool waits_for_lost_chief() const;
  void throw_if_given_up();

  // takes_leave: for good, and nobody shall miss the chief.
  void end_session(bool takes_leave = false);
  void abandon();
  void say_stopped() const;
  void unfinalize() const;
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

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/monitored_session.ipp>
#endif

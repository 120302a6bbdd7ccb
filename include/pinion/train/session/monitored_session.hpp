// The session of a training program. It makes the variables ready, calls hooks around each step, survives tasks that
// restart, and ends when a hook, the input, a signal or the chief says so.
//
//   tr::monitored_training_session sess{{.master = server.target(), .is_chief = task == 0, .checkpoint_dir = dir,
//                                        .hooks = {tr::stop_at_step({.last_step = 10000})}}};
//   while (!sess.should_stop()) sess.run({{X, xb}, {y, yb}}, train);
//
// Every task of a cluster runs this program; one of them is the chief. The hooks of a chief are, in this order: its
// own, a step_counter, a summary_saver, those of all tasks, and last a checkpoint_saver.
//
// The life of a session:
//   1. The hooks' begin() is called; the graph is completed with the operations of the scaffold, and finalized.
//   2. It waits for the tasks that the graph names.
//   3. The chief keeps, restores or initialises the variables; the others wait until they are ready.
//   4. Queue runners start, and the hooks' after_create_session() is called.
//   5. Each run() calls the hooks around a step. If a task is lost, 2 to 4 happen again, and then the step.
//   6. close() calls the hooks' end(), stops the threads and closes the session.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/process.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/session/coordinated_session.hpp>
#include <pinion/train/session/options.hpp>
#include <pinion/train/session/signal_stop.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

run_request request_of_ends(std::initializer_list<feed> feeds, std::initializer_list<runtime::fetch_end> fetches);
template <class... F>
run_request request_of(std::initializer_list<feed> feeds, const F&... fetches) {
  return request_of_ends(feeds, {fetches...});
}

}  // namespace detail

// Runs the steps of a training program. It owns its session, the threads of its queue runners and copies of its hooks.
// Its graph is the default graph of its construction, which it finalizes until it is destroyed. One thread at a time
// may use it; hooks are called in that thread. Rules: TensorFlow 1.15, monitored_session.py.
//
// Recovery. A step that fails because a task died or restarted (unavailable, aborted) is run again in a new session,
// whose chief keeps the variables or restores the last checkpoint (beginning.hpp). Where only a hook fails so, in its
// after_run(), the step has succeeded: there is a new session, but the step is not run again. (TensorFlow runs it
// again, and so applies its update twice.) At its beginning and in a recovery the session waits for tasks that are not
// there, for max_wait at most; then it throws deadline_exceeded.
//
// The chief. A worker knows by a sign on the task of the global step whether the chief is there. If its steps need the
// chief (sync_replicas), it waits for a lost one, for max_wait at most; other workers go on. Both write a line about
// it.
//
// Failure. Every exception is a pn::error. A thread of its coordinator that fails ends training; its error is thrown by
// the step that failed because of it, by the next run(), or by close(), and it is recovered from if its code is
// unavailable or aborted. The destructor does what close() does and logs errors; while an exception is under way it
// leaves out the hooks' end().
//
// Signals. SIGINT or SIGTERM ends training like the end of the input, after the step under way: should_stop() becomes
// true, and close() saves. A loop that does not ask should_stop() meets the error cancelled from its second step on. A
// second signal ends the process at once, if it comes half a second later or more.
class monitored_training_session {
 public:
  // Makes the session, waits for its tasks, makes the variables ready and calls the hooks' begin() and
  // after_create_session(). Throws the errors of the session and of the hooks, deadline_exceeded after max_wait, and
  // cancelled if a signal has asked the process to stop.
  explicit monitored_training_session(monitored_session_options options,
                                      source_location where = source_location::current());
  monitored_training_session(const monitored_training_session&) = delete;
  ~monitored_training_session();

  // True once a hook, the end of the input, a signal, the coordinator or close() has ended training. After that run()
  // is not to be called.
  bool should_stop() const;
  // Ends training: should_stop() becomes true.
  void request_stop() { stop_ = true; }

  // Runs a step like session::run, with the hooks around it. A step that meets the end of its input (out_of_range) ends
  // training: if it fetches nothing it returns, otherwise it throws that error. Throws failed_precondition if
  // should_stop() is true, and the errors of the step and of the hooks.
  template <runtime::fetchable... F>
  auto run(const F&... fetches) {
    return run(std::initializer_list<feed>{}, fetches...);
  }
  template <runtime::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    constexpr bool fetches_nothing = std::tuple_size_v<runtime::fetched_tuple<F...>> == 0;
    return runtime::taken<F...>(step(detail::request_of(feeds, fetches...), fetches_nothing));
  }
  // Runs a request without types, and returns the values of its fetches in their order.
  std::vector<any_tensor> run(const run_request& request) { return step(request, false); }

  // The argument of the function of run_step_fn(). It refers to the session and is valid during the call.
  class step_context {
   public:
    // The session itself: runs in it call no hooks.
    pinion::session& session() const { return of_.raw_session(); }
    // Runs like run(), but throws every error, so that run_step_fn() can call the whole function again.
    template <runtime::fetchable... F>
    auto run_with_hooks(const F&... fetches) const {
      return run_with_hooks(std::initializer_list<feed>{}, fetches...);
    }
    template <runtime::fetchable... F>
    auto run_with_hooks(std::initializer_list<feed> feeds, const F&... fetches) const {
      return runtime::taken<F...>(of_.run_with_hooks(detail::request_of(feeds, fetches...)));
    }
    std::vector<any_tensor> run_with_hooks(const run_request& request) const { return of_.run_with_hooks(request); }
    // Ends training once the function has returned.
    void request_stop() const { of_.request_stop(); }

   private:
    friend monitored_training_session;
    explicit step_context(monitored_training_session& of) : of_(of) {}
    monitored_training_session& of_;
  };

  // Runs a step that consists of several runs: calls a function with a step_context and returns its result. If a task
  // dies meanwhile, the function is called again from its beginning, in a new session. Throws failed_precondition if
  // should_stop() is true.
  //
  //   float loss = sess.run_step_fn([&](auto step) {
  //     step.session().run(prepare);                     // without hooks
  //     return float(step.run_with_hooks(loss_value));
  //   });
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

  // The session without hooks; a recovery replaces it by another one. Throws failed_precondition after close(). A run
  // in it is not made again when a task dies, as run() and run_step_fn() do: it throws unavailable.
  //
  //   float accuracy_now = sess.raw_session().run(accuracy);         // without hooks, and without a count of the step
  pinion::session& raw_session();
  // Lets it stand for its session, as in saver.save(sess, ...).
  operator pinion::session&() { return raw_session(); }
  // The number of recoveries so far.
  int recoveries() const { return all_recoveries_; }

  // Calls the hooks' end(), stops the threads and closes the session. Every hook's end() is called, even if one of them
  // fails. Throws the first error of an end(), or else the error of a thread that run() has not thrown yet. A second
  // call does nothing.
  void close(source_location where = source_location::current());

 private:
  // The error of a coordinator's thread that has not been thrown yet.
  std::optional<error> untold_failure() const;
  std::vector<any_tensor> step(const run_request& request, bool may_end);
  void attempt(const std::function<void()>& step, bool may_end);
  void go_on_after_hooks(bool may_end);
  // Throws if training has ended.
  void expect_training();
  std::optional<error> failure_of(const std::function<void()>& step);
  // True, for this and the next, if training ends by the failure; they take note of that.
  bool ends_input(const error& failed);
  bool ends_by_signal(const error& failed);
  bool recovers(const error& failed, bool may_end);
  std::vector<any_tensor> run_with_hooks(const run_request& request);
  error because(const error& failed);

  // ---- sessions

  void recover(const error& why);
  void throw_if_given_up();
  void abandon();
  void say_stopped() const;
  void unfinalize() const;
  void say(const std::string& line) const { o_.log(line); }

  const process_mark made_in_;
  monitored_session_options o_;
  const graph_ref graph_;
  std::unique_ptr<session_hooks> hooks_;
  const int exceptions_ = std::uncaught_exceptions();
  source_location closed_at_;  // unknown unless close() was called
  bool stop_ = false, closed_ = false, ended_well_ = false, was_finalized_ = false;
  bool told_ = false;             // the error of a thread was thrown
  mutable bool noticed_ = false;  // a signal has come, and should_stop() has told it or one more step has begun
  signal_stop signals_;
  int recoveries_ = 0, all_recoveries_ = 0;
  std::optional<error> lost_by_hook_;  // by which a hook failed after a step that had succeeded

  std::optional<coordinated_session> live_;  // none: the constructor has not come to it
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/monitored_session.ipp>
#endif

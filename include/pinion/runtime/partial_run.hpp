// A step that is fed and fetched in several calls, where a value that is fed depends on one that was fetched. Programs
// that need it include this file; no umbrella header does.
//
//   pn::partial_run step(sess, pn::feeds(image, answer), pn::fetches(guess, loss), pn::targets(train));
//   const auto first = step.run({{image, photo}}, guess);      // runs whatever the image suffices for
//   step.run({{answer, ask_somebody(first)}}, loss, train);    // goes on from there; nothing runs twice
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/each_process.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 {

// One run of a step, in several calls; session.partial_run_setup() and session.partial_run() of TensorFlow 1.x. All
// feeds, fetches and targets are named when it is made. Each is then fed, fetched or run in one of the calls, in any
// order that the graph allows, and at most once; what is never asked for needs no call. Each node runs once, as soon as
// its inputs are there: also in a call that does not ask for it.
//
// Ownership: it may outlive its session, but cannot go on then. Between two turns it holds values, and no thread. The
// destructor cancels what has not ended, and waits for nothing; closing the session, or session::cancel_steps(), does
// so too. Movable; one that was moved from throws failed_precondition.
//
// Threads: thread-safe. As for any step, no thread may add to the graph until all has run or the object is gone.
//
// Errors: pn::error. A call that asks for what cannot be is refused with invalid_argument, changes nothing, and another
// may follow: an end that was not named, one that was fed or fetched in an earlier call, a value that does not fit, a
// fetch whose feeds were not all fed. A failure of a node fails the run, and every later call throws it again; so does
// a call that takes longer than the session's operation_timeout, which each call has for itself.
//
// On a cluster a call is one exchange of messages with the session's target, and a lost task fails the run, as it fails
// a step; a run is never begun again.
class partial_run {
 public:
  // Begins the run: compiles the step, or finds it compiled, and runs what needs no feed. Throws what session::run()
  // throws for such feeds and fetches.
  template <class... X, class... F>
  partial_run(session& s, const feed_list<X...>& feeds, const fetch_list<F...>& fetches,
              const target_list& targets = {}, source_location where = source_location::current())
      : partial_run(s, feeds.ends, fetches.ends, targets.ends, where) {}
  // Begins a run with ends that are known at run time only.
  partial_run(session& s, const std::vector<any_expr>& feeds, const std::vector<any_expr>& fetches,
              const std::vector<operation>& targets, source_location where = source_location::current());
  partial_run(partial_run&&) noexcept;
  partial_run& operator=(partial_run&&) noexcept;
  ~partial_run();

  // Goes on: feeds the values, and returns when the fetches are there and the operations have run. The result is
  // that of session::run(): nothing, a tensor, or a tuple. Without fetches it only feeds.
  template <runtime::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    return runtime::taken<F...>(call(feeds, {fetches...}));
  }
  template <runtime::fetchable... F>
  auto run(const F&... fetches) {
    return runtime::taken<F...>(call({}, {fetches...}));
  }

 private:
  struct inside;
  std::vector<any_tensor> call(std::initializer_list<feed> feeds, std::initializer_list<runtime::fetch_end> fetches);

  std::unique_ptr<inside, delete_where_made> in_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/partial_run.ipp>
#endif

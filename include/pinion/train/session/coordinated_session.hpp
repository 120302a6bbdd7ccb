// A session of a training program with the threads that belong to it, made again when it is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/session/beginning.hpp>
#include <pinion/train/session/chief_monitor.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/options.hpp>
#include <pinion/train/session/signal_stop.hpp>
#include <pinion/train/session/task_probe.hpp>

namespace pinion { inline namespace v0 { namespace train {

class session_hooks;

// The session that a monitored one uses now, its coordinator, and what keeps chief and workers in touch. Owned by the
// monitored session, to whose options, graph, hooks and signals it refers. For one thread.
class coordinated_session {
 public:
  // The sign of the chief is none where tasks share no state. Requires: the graph is complete.
  coordinated_session(const monitored_session_options& o, graph_ref g, session_hooks& hooks, signal_stop& signals,
                      std::optional<chief_sign> sign);

  // Makes a session. Waits for tasks that are not there and, in a worker, until the chief has made the variables ready;
  // throws deadline_exceeded after max_wait, and cancelled if a signal has asked the process to stop.
  void create(bool recovers);
  // Ends the session, if there is one, and joins its threads. `takes_leave`: for good, so that the workers do not miss
  // the chief.
  void end(source_location closed_at, bool takes_leave = false);
  // Ends it with the steps that are under way.
  void drop();

  pinion::session* session() { return session_ ? &*session_ : nullptr; }
  // The error of a thread, and that error if it is one to recover from.
  std::optional<error> failure() const { return coordinator_ ? coordinator_->failure() : std::nullopt; }
  std::optional<error> recoverable_failure() const;
  // Has the end of the input, or a thread, ended training?
  bool has_ended() const { return coordinator_ && coordinator_->should_stop() && !recoverable_failure(); }

  bool has_given_up_chief() const { return chief_ && chief_->gave_up(); }
  // Waits for a lost chief, after a step that took too long because of that. Returns true if it is back.
  bool wait_for_chief() { return chief_ && chief_->wait_until_back(*coordinator_, signals_); }

  // Finds the place of the global step among the fetches. On a cluster, where steps may be lost, it is fetched with
  // every step; but not before it is known to be initialised.
  std::optional<std::size_t> fetch_step(run_request& all) const;
  void note_step(std::int64_t seen) { step_ = seen; }

  // Writes in the log that the session is lost, and at which step.
  void say_lost(const error& why) const;

 private:
  // Makes a session once. Fails, without throwing, where a worker's variables are not ready yet: that is expected, and
  // the worker waits.
  outcome<> attempt(bool recovers);
  outcome<> join_chief(bool recovers);
  // The chief gives its signs, and a worker looks at them. A sign that cannot be written or read is no error here: the
  // next step meets the same trouble.
  void keep_in_touch();

  const monitored_session_options& o_;
  const graph_ref graph_;  // throws where the program has destroyed the graph
  session_hooks& hooks_;
  signal_stop& signals_;
  const std::optional<chief_sign> sign_;

  std::optional<pinion::session> session_;
  std::optional<coordinator> coordinator_;
  std::optional<task_probe> tasks_;     // only for a session on a cluster
  beginning beginning_{o_, sign_};      // also used by a worker, to read the global step
  std::optional<chief_monitor> chief_;  // only for a worker
  bool has_seen_sign_ = false;          // a worker joined by it
  std::optional<std::int64_t> step_;    // the last global step that was seen
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/coordinated_session.ipp>
#endif

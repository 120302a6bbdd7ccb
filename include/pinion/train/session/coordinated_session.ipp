// Bodies of <pinion/train/session/coordinated_session.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/train/handle.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/session/backoff.hpp>
#include <pinion/train/session/coordinated_session.hpp>
#include <pinion/train/session/session_hooks.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL coordinated_session::coordinated_session(const monitored_session_options& o, graph_ref g,
                                                     session_hooks& hooks, signal_stop& signals,
                                                     std::optional<chief_sign> sign)
    : o_(o), graph_(std::move(g)), hooks_(hooks), signals_(signals), sign_(std::move(sign)) {
  if (!o_.master.empty()) tasks_.emplace(*graph_);
  if (sign_ && !o_.is_chief)
    chief_.emplace(*sign_, graph_view(*graph_), chief_monitor::limits{o_.heartbeat, o_.max_wait}, o_.log);
}

PINION_DECL std::optional<error> coordinated_session::recoverable_failure() const {
  auto why = failure();
  return why && is_recoverable(*why) ? why : std::nullopt;
}

PINION_DECL void coordinated_session::create(bool recovers) {
  backoff waiting(o_.max_wait, o_.log, [this](std::chrono::milliseconds length) { signals_.pause(length); });
  for (bool waits_for_chief = false;;) {
    outcome<> created;
    try {
      if (tasks_) tasks_->run(o_.config, waiting.for_an_attempt());
      created = attempt(recovers);
      if (created) return;
    } catch (const error& e) {
      if (signals_.asked()) throw signals_.stopped();
      if (!may_come_back(e)) throw;
      if (coordinator_) say_lost(e), recovers = true;  // a session had begun before it failed
      created = e;
    }
    drop();
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

PINION_DECL outcome<> coordinated_session::attempt(bool recovers) {
  const auto use = graph_->as_default();
  session_.emplace(o_.config);
  {
    const signal_stop::busy now(signals_, *session_, signal_stop::busy::with::beginning);
    if (sign_) beginning_.learn_own_name(*session_);
    if (o_.is_chief)
      o_.log(beginning_.run(*session_, recovers, step_));
    else if (auto joined = join_chief(recovers); !joined)
      return joined;
    step_ = beginning_.step_in(*session_);
  }
  if (signals_.has_cut_short()) throw signals_.stopped();  // the signal came when all had been done
  coordinator_.emplace(std::vector<errc>{});
  keep_in_touch();
  start_queue_runners(*session_, *coordinator_);
  hooks_.after_create_session(*session_, *coordinator_);
  return {};
}

PINION_DECL outcome<> coordinated_session::join_chief(bool recovers) {
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
  const auto now = beginning_.step_in(*session_);
  std::string line = recovers ? "recovered" : "the variables are ready: training goes on";
  if (now) line += fmt::format(" at step {}", *now);
  if (now && recovers && step_ && *step_ > *now) line += fmt::format("; this program had seen step {}", *step_);
  o_.log(line);
  return {};
}

PINION_DECL void coordinated_session::keep_in_touch() {
  if (!sign_ || o_.heartbeat.count() == 0) return;
  pinion::session& on = *session_;
  train::coordinator& with = *coordinator_;
  if (!o_.is_chief)
    return with.launch("looks whether the chief is there", [this, &on, &with] { chief_->run(on, with); });
  with.launch("tells that the chief is there", [this, &on, &with] {
    while (!with.wait_for_stop(o_.heartbeat / 2)) try {
        beginning_.beat(on);
      } catch (const error&) {
      }
  });
}

PINION_DECL void coordinated_session::end(source_location closed_at, bool takes_leave) {
  if (coordinator_) {
    coordinator_->request_stop();
    try {
      coordinator_->join({.stop_grace_period = o_.stop_grace_period, .ignore_live_threads = true});
    } catch (...) {  // the error of a thread is thrown by close()
    }
  }
  if (session_ && takes_leave && o_.is_chief && sign_) try {
      beginning_.end(*session_);
    } catch (const error&) {  // the workers will report the chief as lost
    }
  if (session_) session_->close(closed_at);
  coordinator_.reset();  // this joins the threads, whose steps have been cancelled
  session_.reset();
}

PINION_DECL void coordinated_session::drop() {
  if (session_) session_->close({});
  end({});
}

PINION_DECL std::optional<std::size_t> coordinated_session::fetch_step(run_request& all) const {
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

PINION_DECL void coordinated_session::say_lost(const error& why) const {
  const std::string at = step_ ? fmt::format(" at step {}", *step_) : "";
  if (why.task().empty()) return o_.log(fmt::format("a step failed{}; recovering: {}", at, why.what()));
  const bool self = why.task() == beginning_.own_name();
  o_.log(fmt::format("{} {}{}; recovering: {}", self ? "another task has lost this one," : "lost", why.task(), at,
                     why.what()));
}

}}}  // namespace pinion::v0::train

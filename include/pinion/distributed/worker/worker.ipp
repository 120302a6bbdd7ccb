// Bodies of <pinion/distributed/worker/worker.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/wire/waiting.hpp>
#include <pinion/distributed/worker/worker.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

// Calls an alarm, which ends work that is under way, in a thread of its own kind.
template <class Alarm>
void ring(thread_pool& alarms, std::uint64_t line, const Alarm& alarm) {
  if (!outcome_of([&] { alarms.schedule([alarm] { insist(alarm); }, line); }))
    insist(alarm);  // in this thread rather than not at all
}

// Notes a failure of a part, unless this task's own master does.
inline void note(recent_failures& in, const requester& by, const error& why) {
  if (!by.is_own_master()) static_cast<void>(outcome_of([&] { in.add_step(why); }));
}

inline void expect_room(std::size_t feeds, std::size_t fetches, const ends& needs) {
  if (needs.feeds > feeds || needs.fetches > fetches)
    throw error(errc::invalid_argument, "the step takes " + std::to_string(needs.feeds) + " feeds and yields " +
                                            std::to_string(needs.fetches) + " fetches, where the run has " +
                                            std::to_string(feeds) + " and " + std::to_string(fetches));
}

inline bool peers_are_up(exchange& values, const kept_step& step) {
  return std::all_of(step.peers.begin(), step.peers.end(),
                     [&](const auto& p) { return values.route_to(p.first)->up(); });
}

}  // namespace detail

PINION_DECL worker::worker(rpc::network& net, std::string name, std::uint64_t life, runtime::task& on, exchange& values,
                           builders& slow, thread_pool& alarms, const server_limits& limits)
    : net_(net),
      name_(std::move(name)),
      task_(on),
      exchange_(values),
      builders_(slow),
      alarms_(alarms),
      graphs_(limits, life),
      steps_(name_, on, limits, graphs_),
      counts_(net.now()) {}

PINION_DECL void worker::run(const run_step& r, const requester& by, std::vector<any_tensor> feeds, std::size_t fetches,
                             begin_in where, run_ended done, std::shared_ptr<void> counted) {
  const auto order = std::make_shared<ordered_run>(
      ordered_run{r, by, std::move(feeds), fetches, where, std::move(done), std::move(counted)});
  try {
    registrar_.expect_of(by, r.run.session);
    auto what = steps_.find(r);
    if (what.compiled || where == begin_in::this_thread) return begin(*order, std::move(what));
    builders_.add(step_registrar::line_of(by, r.run.session), [this, order, what] { begin(*order, what); });
  } catch (...) {
    refuse(*order, current_error());
  }
}

PINION_DECL void worker::cancel(const run_id& run, const error& why, const requester& by) {
  if (!registrar_.is_of(by, run.session)) return;
  if (!runs_.find(run) && !steps_.knows(run.session)) return;
  const auto end_it = [this, run, why] {
    const auto fail_it = [&] {
      if (const auto a = runs_.find(run)) fail(a, why);
    };
    fail_it();
    insist([&] { exchange_.forget(run); });  // it begins no more
    fail_it();                               // it has begun meanwhile
    unsettled_.cancel(run, runtime::step_state::reason_of(why));
  };
  detail::ring(alarms_, run.session.number, end_it);
}

PINION_DECL void worker::settle(const run_id& run, const requester& by) {
  if (!registrar_.is_of(by, run.session)) return;
  auto taken = unsettled_.settle(run);
  if (!taken.holds) return;
  // Values go, which is not for the network's thread.
  static_cast<void>(outcome_of([&] {
    detail::ring(alarms_, run.session.number,
                 [gone = std::make_shared<unsettled_parts::part>(std::move(taken))] { *gone = {}; });
  }));
}

PINION_DECL void worker::forget_session(const session_id& session, const requester& by) {
  if (registrar_.is_of(by, session)) let_go(session, steps_.forget(session));
}

PINION_DECL transfer_key worker::waits_for(const run_id& run) const {
  const auto a = runs_.find(run);
  return a ? a->meet->missing() : transfer_key();
}

PINION_DECL progress_reply worker::progress_of(const run_id& run, const requester& by) const {
  registrar_.expect_of(by, run.session);
  const auto a = runs_.find(run);
  if (!a) throw error(errc::not_found, name_ + " has no part of the run under way").in_task(name_);
  return {to_ms(net_.now() - a->began), a->state.under_way(most_nodes_named)};
}

PINION_DECL void worker::forget_owner(std::uint64_t channel, const error& why) {
  const auto theirs = [&](const active_run& r) { return r.owner.channel == channel; };
  const auto fail_theirs = [&] {
    for (const auto& a : runs_.all_that(theirs))
      detail::ring(alarms_, a->state.line, [this, a, why] {
        fail(a, why);
        unsettled_.cancel(a->id(), cancellation::reason::given_up);  // it has ended before
      });
  };
  insist(fail_theirs);
  detail::ring(alarms_, channel, [this, channel] {
    unsettled_.cancel_if([&](const run_id&, const unsettled_parts::part& p) { return p.channel == channel; },
                         cancellation::reason::given_up);
  });
  insist([&] { builders_.drop(channel); });
  for (auto& [session, kept] : steps_.forget_all_of(channel)) let_go(session, std::move(kept));
  insist(fail_theirs);  // those that have begun meanwhile; later ones find their session forgotten
}

PINION_DECL void worker::tell_lost(const std::string& task, const error& why) {
  alarms_.schedule([this, task, why] {
    for (const auto& one : task_.resources.list()) one.what->lost(task, why);
  });
}

PINION_DECL void worker::reset(const std::vector<std::string>& containers) {
  if (containers.empty()) task_.resources.clear();
  for (const auto& c : containers) task_.resources.clear(c);
  steps_.renew();
}

PINION_DECL std::string worker::stop(const error& why, time_point until) {
  drain();
  runs_.stop();
  for (const auto& a : runs_.all()) fail(a, why);
  unsettled_.cancel_if([](auto&&...) { return true; }, runtime::step_state::reason_of(why));
  return runs_.wait_until_none(until) ? "" : runs_.names();
}

PINION_DECL void worker::let_go(const session_id& session, kept_steps::session_ref kept) {
  if (!kept) return;
  exchange_.forget_session(session);
  // Nobody tells any more how its runs end.
  detail::ring(alarms_, session.number, [this, session] {
    unsettled_.cancel_if([&](const run_id& run, const unsettled_parts::part&) { return run.session == session; },
                         cancellation::reason::given_up);
  });
  static_cast<void>(outcome_of([&] { builders_.add(session.number, [kept]() mutable { kept = nullptr; }); }));
}

PINION_DECL void worker::refuse(const ordered_run& order, error why) {
  why.in_task(name_);
  detail::note(*failures_, order.by, why);
  order.done({.failure = pinion::detail::share(why)});
}

PINION_DECL void worker::begin(ordered_run& order, kept_steps::found what) {
  std::shared_ptr<active_run> a;
  try {
    if (!what.compiled) what.compiled = steps_.compile(*what.session, *what.step);
    a = enter(order, std::move(what));
  } catch (...) {
    return refuse(order, current_error());
  }
  const auto begun = outcome_of([&] {
    // A cancellation that found no run yet has made it one that is over; and who forgets its session looks for runs
    // behind that.
    const auto session = a->session.lock();
    if (exchange_.is_over(order.what.run) || !session || session->forgotten.cancelled())
      a->state.fail(error(errc::cancelled, "the run was cancelled as it began"));
    if (!detail::peers_are_up(exchange_, *a->registered))  // peers may have lost each other since the last run
      registrar_.meet_peers(a->registered, std::chrono::milliseconds(500), [this, a](const outcome<>& met) {
        if (!met) a->state.fail(*met.failure());
        start_in_pool(a);
      });
    else if (order.where == begin_in::pool && !a->step->is_light())
      start_in_pool(a);
    else
      start(a);
  });
  if (!begun) fail(a, *begun.failure());
}

PINION_DECL void worker::start_in_pool(const std::shared_ptr<active_run>& a) {
  const auto scheduled = outcome_of([&] { task_.pool.schedule([this, a] { start(a); }, a->state.line); });
  if (!scheduled) fail(a, *scheduled.failure());
}

PINION_DECL std::shared_ptr<active_run> worker::enter(ordered_run& order, kept_steps::found&& what) {
  const run_step& r = order.what;
  detail::expect_room(order.feeds.size(), order.fetches, what.step->needs);
  net_.expect_more();
  auto hook = std::make_shared<std::weak_ptr<active_run>>();
  const auto failed = [this, hook](const error& why) {
    const auto a = hook->lock();
    if (a) detail::ring(alarms_, a->state.line, [a, why] { a->state.fail(why); });
  };
  auto meet = exchange_.begin(r.run, what.step->peers, failed,
                              std::shared_ptr<const awaited_values>(what.step, &what.step->awaited));
  try {
    if (what.compiled->takes_briefly()) meet->takes_briefly();
    auto a = std::make_shared<active_run>(std::move(meet), std::move(what), order.by);
    *hook = a;
    a->began = net_.now();
    a->feeds = std::move(order.feeds);
    a->fetches.resize(order.fetches);
    a->state.feeds = a->feeds;
    a->state.fetches = a->fetches;
    if (r.trace) a->state.tracer = &a->tracer.emplace();
    if (!runs_.add(a, order.done, order.counted)) throw rpc::is_stopping(name_);
    return a;
  } catch (...) {
    insist([&] { exchange_.end(r.run); });
    throw;
  }
}

PINION_DECL void worker::fail(const std::shared_ptr<active_run>& a, const error& why) {
  a->state.fail(why);
  start(a);
}

PINION_DECL void worker::start(const std::shared_ptr<active_run>& a) {
  if (a->started.exchange(true)) return;
  const auto begun = outcome_of([&] { a->step->start(a->state, [this, a] { finish(a); }); });
  if (begun) return;
  a->state.fail(*begun.failure());
  finish(a);
}

PINION_DECL void worker::finish(const std::shared_ptr<active_run>& a) {
  insist([&] {
    exchange_.end(a->id());
    // A value that it offered after its session was forgotten would wait for ever.
    if (const auto session = a->session.lock(); !session || session->forgotten.cancelled()) exchange_.forget(a->id());
  });
  const auto done = std::move(a->done);
  run_result result;
  static_cast<void>(outcome_of([&] { result.holds = keep_unsettled(a); }));
  // A failure from now on changes nothing here, and finds what is kept.
  const auto failed = a->state.end();
  counts_.ended(!failed, net_.now());
  if (a->tracer) static_cast<void>(outcome_of([&] { result.trace = a->tracer->take(); }));
  if (failed) {
    result.holds = false;
    insist([&] { unsettled_.cancel(a->id(), runtime::step_state::reason_of(*failed)); });
    result.failure = failed;
    static_cast<void>(
        outcome_of([&] { result.failure = std::make_shared<const error>(error(*failed).in_task(name_)); }));
    detail::note(*failures_, a->owner, *result.failure);
  } else {
    result.fetches = std::move(a->fetches);
  }
  a->feeds.clear();
  if (!result.holds) a->counted = nullptr;
  done(std::move(result));
  runs_.remove(*a);
}

PINION_DECL bool worker::keep_unsettled(const std::shared_ptr<active_run>& a) {
  if (!a->state.cancellation.is_heard()) return false;
  const run_id& run = a->id();
  unsettled_.keep(run, {a->owner.channel, {a, &a->state.cancellation}});
  // A session is marked as forgotten before what is kept of it is looked for.
  const auto session = a->session.lock();
  const bool is_told = session && !session->forgotten.cancelled();
  if (!is_told) unsettled_.cancel(run, cancellation::reason::given_up);
  return is_told;
}

PINION_DECL step_report worker::parts() const {
  step_report all = counts_.report(net_.now());
  all.running = runs_.size();
  return all;
}

}}}  // namespace pinion::v0::distributed

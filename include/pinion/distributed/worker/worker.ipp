// Bodies of <pinion/distributed/worker/worker.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/wire/waiting.hpp>
#include <pinion/distributed/worker/worker.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

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
  if (!find_run(run) && !steps_.knows(run.session)) return;
  const auto end_it = [this, run, why] {
    const auto fail_it = [&] {
      if (const auto a = find_run(run)) fail(a, why);
    };
    fail_it();
    insist([&] { exchange_.forget(run); });  // it begins no more
    fail_it();                               // it has begun meanwhile
    unsettled_.cancel(run, runtime::step_state::reason_of(why));
  };
  ring(run.session.number, end_it);
}

PINION_DECL void worker::settle(const run_id& run, const requester& by) {
  if (!registrar_.is_of(by, run.session)) return;
  auto taken = unsettled_.settle(run);
  if (!taken.holds) return;
  // Values go, which is not for the network's thread.
  static_cast<void>(outcome_of([&] {
    ring(run.session.number, [gone = std::make_shared<unsettled_parts::part>(std::move(taken))] { *gone = {}; });
  }));
}

template <class Alarm>
void worker::ring(std::uint64_t line, const Alarm& alarm) {
  if (!outcome_of([&] { alarms_.schedule([alarm] { insist(alarm); }, line); }))
    insist(alarm);  // in this thread rather than not at all
}

PINION_DECL void worker::forget_session(const session_id& session, const requester& by) {
  if (registrar_.is_of(by, session)) let_go(session, steps_.forget(session));
}

PINION_DECL transfer_key worker::waits_for(const run_id& run) const {
  const auto a = find_run(run);
  return a ? a->meet->missing() : transfer_key();
}

PINION_DECL progress_reply worker::progress_of(const run_id& run, const requester& by) const {
  registrar_.expect_of(by, run.session);
  const auto a = find_run(run);
  if (!a) throw error(errc::not_found, name_ + " has no part of the run under way").in_task(name_);
  return {to_ms(net_.now() - a->began), a->state.under_way(most_named)};
}

PINION_DECL void worker::forget_owner(std::uint64_t channel, const error& why) {
  const auto theirs = [&](const active_run& r) { return r.owner.channel == channel; };
  const auto fail_theirs = [&] {
    for (const auto& a : runs_if(theirs))
      ring(a->state.line, [this, a, why] {
        fail(a, why);
        unsettled_.cancel(a->meet->run(), cancellation::reason::given_up);  // it has ended before
      });
  };
  insist(fail_theirs);
  ring(channel, [this, channel] {
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
  std::unique_lock hold(mutex_);
  stopped_ = true;
  hold.unlock();
  for (const auto& a : runs_if([](const active_run&) { return true; })) fail(a, why);
  unsettled_.cancel_if([](auto&&...) { return true; }, runtime::step_state::reason_of(why));
  hold.lock();
  if (idle_.wait_until(hold, until, [this] { return active_.empty(); })) return "";
  hold.unlock();
  return names_of_runs();
}

PINION_DECL std::string worker::names_of_runs() const {
  std::lock_guard hold(mutex_);
  if (active_.empty()) return "";
  const auto& first = *active_.begin()->second->registered;
  const std::string nodes = nodes_of(first);
  return std::to_string(active_.size()) + " run(s) of step " + std::to_string(first.number) + " of session " +
         std::to_string(first.session.number) + " (" + (nodes.empty() ? "of no nodes" : "it computes " + nodes) + ")";
}

PINION_DECL worker::active_run::active_run(std::shared_ptr<remote_rendezvous> r, kept_steps::found&& what,
                                           requester who)
    : meet(std::move(r)),
      step(std::move(what.compiled)),
      registered(std::move(what.step)),
      session(what.session),
      owner(std::move(who)),
      state(*meet, static_cast<std::int64_t>(meet->run().count),
            owner.client != 0 ? owner.client : meet->run().session.number) {}

PINION_DECL void worker::let_go(const session_id& session, kept_steps::session_ref kept) {
  if (!kept) return;
  exchange_.forget_session(session);
  // Nobody tells any more how its runs end.
  ring(session.number, [this, session] {
    unsettled_.cancel_if([&](const run_id& run, const unsettled_parts::part&) { return run.session == session; },
                         cancellation::reason::given_up);
  });
  static_cast<void>(outcome_of([&] { builders_.add(session.number, [kept]() mutable { kept = nullptr; }); }));
}

PINION_DECL void worker::refuse(const ordered_run& order, error why) {
  why.in_task(name_);
  note(order.by, why);
  order.done({.failure = pinion::detail::share(why)});
}

PINION_DECL void worker::note(const requester& by, const error& why) {
  if (!by.is_own_master()) static_cast<void>(outcome_of([&] { failures_->add_step(why); }));
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
    if (!peers_are_up(*a->registered))  // peers may have lost each other since the last run
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

PINION_DECL std::shared_ptr<worker::active_run> worker::enter(ordered_run& order, kept_steps::found&& what) {
  const run_step& r = order.what;
  expect_room(order, what.step->needs);
  net_.expect_more();
  auto hook = std::make_shared<std::weak_ptr<active_run>>();
  const auto failed = [this, hook](const error& why) {
    const auto a = hook->lock();
    if (a) ring(a->state.line, [a, why] { a->state.fail(why); });
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
    std::lock_guard hold(mutex_);
    if (stopped_) throw rpc::is_stopping(name_);
    active_.emplace(r.run, a);
    a->done = std::move(order.done);
    a->counted = std::move(order.counted);
    return a;
  } catch (...) {
    insist([&] { exchange_.end(r.run); });
    throw;
  }
}

PINION_DECL void worker::expect_room(const ordered_run& order, const ends& needs) {
  if (needs.feeds > order.feeds.size() || needs.fetches > order.fetches)
    throw error(errc::invalid_argument, "the step takes " + std::to_string(needs.feeds) + " feeds and yields " +
                                            std::to_string(needs.fetches) + " fetches, where the run has " +
                                            std::to_string(order.feeds.size()) + " and " +
                                            std::to_string(order.fetches));
}

PINION_DECL bool worker::peers_are_up(const kept_step& step) {
  return std::all_of(step.peers.begin(), step.peers.end(),
                     [&](const auto& p) { return exchange_.route_to(p.first)->up(); });
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
    exchange_.end(a->meet->run());
    // A value that it offered after its session was forgotten would wait for ever.
    if (const auto session = a->session.lock(); !session || session->forgotten.cancelled())
      exchange_.forget(a->meet->run());
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
    insist([&] { unsettled_.cancel(a->meet->run(), runtime::step_state::reason_of(*failed)); });
    result.failure = failed;
    static_cast<void>(
        outcome_of([&] { result.failure = std::make_shared<const error>(error(*failed).in_task(name_)); }));
    note(a->owner, *result.failure);
  } else {
    result.fetches = std::move(a->fetches);
  }
  a->feeds.clear();
  if (!result.holds) a->counted = nullptr;
  done(std::move(result));
  std::lock_guard hold(mutex_);
  active_.erase(a->meet->run());
  idle_.notify_all();
}

PINION_DECL bool worker::keep_unsettled(const std::shared_ptr<active_run>& a) {
  if (!a->state.cancellation.is_heard()) return false;
  const run_id& run = a->meet->run();
  unsettled_.keep(run, {a->owner.channel, {a, &a->state.cancellation}});
  // A session is marked as forgotten before what is kept of it is looked for.
  const auto session = a->session.lock();
  const bool is_told = session && !session->forgotten.cancelled();
  if (!is_told) unsettled_.cancel(run, cancellation::reason::given_up);
  return is_told;
}

PINION_DECL step_report worker::parts() const {
  step_report all = counts_.report(net_.now());
  std::lock_guard hold(mutex_);
  all.running = active_.size();
  return all;
}

PINION_DECL std::vector<run_report> worker::runs() const {
  std::vector<run_report> all;
  const time_point now = net_.now();
  for (const auto& a : runs_if([](const active_run&) { return true; })) {
    run_report& r = all.emplace_back(run_report{.master = a->meet->run().session.master,
                                                .step = a->meet->run().count,
                                                .age = std::chrono::duration<double>(now - a->began).count(),
                                                .computes = nodes_of(*a->registered)});
    if (const auto key = a->meet->missing(); !key.empty()) r.waits_for = key.title();
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.age > y.age; });
  if (all.size() > task_report::most_rows) all.resize(task_report::most_rows);
  return all;
}

PINION_DECL std::shared_ptr<worker::active_run> worker::find_run(const run_id& run) const {
  std::lock_guard hold(mutex_);
  const auto at = active_.find(run);
  return at == active_.end() ? nullptr : at->second;
}

PINION_DECL std::string worker::nodes_of(const kept_step& step) {
  std::string names;
  int left = static_cast<int>(most_named);
  for (const auto& part : step.part.parts)
    for (auto it = part.items.rbegin(); it != part.items.rend() && left > 0; ++it)
      if (it->kind == runtime::part_item::compute && left-- > 0)
        names += (names.empty() ? "'" : ", '") + step.view()[it->node].name + "'";
  return names;
}

}}}  // namespace pinion::v0::distributed

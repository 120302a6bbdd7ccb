// The part of a server that computes: it keeps subgraphs, and runs them when a master asks.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/builders.hpp>
#include <pinion/distributed/kept_steps.hpp>
#include <pinion/distributed/run_result.hpp>

namespace pinion::inline v0::distributed {

// Owned by a server. Thread-safe. Callbacks come once, in any thread. A lock of this is held for moments only: what is
// compiled, or waits, holds none.
class worker {
 public:
  using registered = std::function<void(const error*)>;
  enum class begin_in { this_thread, pool };

  // Steps are made ready by `slow`; runs are failed by `alarms`, which never compute: what a failure wakes has to be
  // accounted for, item by item.
  worker(rpc::network& net, std::string name, runtime::task& on, exchange& values, builders& slow, thread_pool& alarms)
      : net_(net),
        name_(std::move(name)),
        task_(on),
        exchange_(values),
        builders_(slow),
        alarms_(alarms),
        steps_(name_, on) {}

  std::vector<device_info> devices() const { return task_.device_infos(); }

  // Connects with the peers of the step, then compiles it.
  void register_step(const party& by, distributed::register_step r, registered done) {
    kept_steps::session_ref session;
    try {
      session = steps_.claim(r.session, by);
    } catch (...) {
      const error failed = current_error().in_task(name_);
      return done(&failed);
    }
    auto step = std::make_shared<kept_step>(kept_step{.session = r.session,
                                                      .number = r.step,
                                                      .peers = incarnations(r.peers.begin(), r.peers.end()),
                                                      .part = std::move(r.part),
                                                      .soft = r.soft});
    const std::uint64_t line = by.is_own_master() ? step->session : by.channel;
    meet_peers(step, std::chrono::seconds(2), [this, session, step, line, done = std::move(done)](const error* failed) {
      if (!failed) return builders_.add(line, [this, session, step, done] { build(session, step, done); });
      steps_.give_up(step->session, session);
      done(failed);
    });
  }

  // Computes what was registered; `fetches` many values come back.
  void run(const run_step& r, const party& by, std::vector<any_tensor> feeds, std::size_t fetches, begin_in where,
           run_ended done) {
    const auto order =
        std::make_shared<ordered_run>(ordered_run{r, by, std::move(feeds), fetches, where, std::move(done)});
    try {
      auto what = steps_.find(r, by);
      if (what.compiled || where == begin_in::this_thread) return begin(*order, std::move(what));
      builders_.add(r.run, [this, order, what] { begin(*order, what); });
    } catch (...) {
      refuse(*order, current_error());
    }
  }

  std::vector<std::string> take_notices(std::uint64_t session) { return steps_.take_notices(session); }

  // Ignored for a run of somebody else. A cancellation may come before its run.
  void cancel(std::uint64_t run, const error& why, const party& by = {}) {
    const auto a = find_run(run);
    const bool may = by.is_own_master() || (a ? are_one(a->owner, by) : steps_.owns(by, session_of(run)));
    if (!may) return;
    alarms_.schedule([this, a, run, why] {
      if (a) fail(a, why);
      exchange_.forget(run);
    });
  }
  // What this task is waiting for in a run, for people; "" if nothing.
  std::string waits_for(std::uint64_t run) const {
    const auto a = find_run(run);
    return a ? a->meet->missing() : std::string();
  }

  // Ignored for a session of somebody else.
  void forget_session(std::uint64_t session, const party& by = {}) { let_go(session, steps_.forget(session, by)); }
  // A master that is gone takes its runs and sessions along.
  void forget_owner(std::uint64_t channel, const error& why) {
    for (const auto& a : runs_if([&](const active_run& r) { return r.owner.channel == channel; }))
      alarms_.schedule([this, a, why] { fail(a, why); });
    for (auto& [session, kept] : steps_.forget_all_of(channel)) let_go(session, std::move(kept));
  }
  // Steps compiled before are compiled again when they are next run.
  void reset(const std::vector<std::string>& containers) {
    if (containers.empty()) task_.resources.clear();
    for (const auto& c : containers) task_.resources.clear(c);
    steps_.renew();
  }

  // Fails what runs, and waits until it has ended. What has not by then, for people; "" if nothing.
  std::string stop(const error& why, time_point until) {
    steps_.stop();
    std::unique_lock hold(mutex_);
    stopped_ = true;
    hold.unlock();
    for (const auto& a : runs_if([](const active_run&) { return true; })) fail(a, why);
    hold.lock();
    if (idle_.wait_until(hold, until, [this] { return active_.empty(); })) return "";
    const auto& first = *active_.begin()->second->registered;
    return std::to_string(active_.size()) + " run(s) of step " + std::to_string(first.number) + " of session " +
           std::to_string(first.session) + " (" + nodes_of(first) + ")";
  }

 private:
  struct active_run {
    active_run(std::shared_ptr<remote_rendezvous> r, kept_steps::found&& what, party who)
        : meet(std::move(r)),
          step(std::move(what.compiled)),
          registered(std::move(what.step)),
          owner(std::move(who)),
          state(*meet, static_cast<std::int64_t>(meet->run())) {}
    std::shared_ptr<remote_rendezvous> meet;
    std::shared_ptr<runtime::compiled_step> step;  // as it was when the run began: a reset compiles another
    std::shared_ptr<const kept_step> registered;
    party owner;
    std::optional<step_tracer> tracer;
    runtime::step_state state;
    run_ended done;
    std::atomic<bool> started{false};
  };
  // A run that was asked for, until it has begun.
  struct ordered_run {
    run_step what;
    party by;
    std::vector<any_tensor> feeds;
    std::size_t fetches;
    begin_in where;
    run_ended done;
  };
  static std::uint64_t session_of(std::uint64_t run) { return run >> 32; }

  // ---- registering

  void meet_peers(const std::shared_ptr<const kept_step>& step, rpc::duration patience, registered done) {
    struct meeting {
      std::mutex mutex;
      std::size_t left = 0;
      std::optional<error> failed;
    };
    auto all = std::make_shared<meeting>();
    all->left = step->peers.size();
    if (all->left == 0) return done(nullptr);
    const auto limit = net_.now() + patience;  // short: the master has met them all just now
    for (const auto& [task, incarnation] : step->peers) {
      const auto way = exchange_.way_to(task);
      way->connect(limit, [all, way, incarnation = incarnation, done](const error* failed) {
        {
          std::lock_guard hold(all->mutex);
          if (failed && !all->failed) {
            const bool late = failed->code() == errc::deadline_exceeded;
            all->failed = error(late ? errc::unavailable : failed->code(), failed->sentence()).in_task(way->peer());
          }
          if (!failed && way->incarnation() != incarnation && !all->failed)
            all->failed = error(errc::aborted, way->title() + " was restarted").in_task(way->peer());
          if (--all->left > 0) return;
        }
        done(all->failed ? &*all->failed : nullptr);
      });
    }
  }

  void build(const kept_steps::session_ref& session, const kept_steps::step_ref& step, const registered& done) {
    std::optional<error> failed;
    try {
      steps_.build(session, step);
    } catch (...) {
      failed = current_error().in_task(name_);
    }
    steps_.give_up(step->session, session);
    done(failed ? &*failed : nullptr);
  }
  void let_go(std::uint64_t session, kept_steps::session_ref kept) {
    if (!kept) return;
    exchange_.forget_session(session);
    builders_.add(session, [kept = std::move(kept)]() mutable { kept = nullptr; });
  }

  // ---- running

  void refuse(const ordered_run& order, error why) {
    why.in_task(name_);
    order.done({}, &why);
  }
  void begin(ordered_run& order, kept_steps::found what) {
    std::shared_ptr<active_run> a;
    try {
      if (!what.compiled) what.compiled = steps_.compile(*what.session, *what.step);
      a = enter(order, std::move(what));
    } catch (...) {
      return refuse(order, current_error());
    }
    if (!peers_are_up(*a->registered))  // they may have lost each other since the last run, and found each other again
      meet_peers(a->registered, std::chrono::milliseconds(500), [this, a](const error* failed) {
        if (failed) a->state.fail(*failed);
        task_.inter_op.schedule([this, a] { start(a); });
      });
    else if (order.where == begin_in::pool)
      task_.inter_op.schedule([this, a] { start(a); });
    else
      start(a);
  }
  std::shared_ptr<active_run> enter(ordered_run& order, kept_steps::found&& what) {
    const run_step& r = order.what;
    expect_room(order, what.step->needs);
    auto hook = std::make_shared<std::weak_ptr<active_run>>();
    auto meet = exchange_.begin(r.run, what.step->peers, [this, hook](const error& why) {
      const auto a = hook->lock();
      if (a) alarms_.schedule([a, why] { a->state.fail(why); });
    });
    auto a = std::make_shared<active_run>(std::move(meet), std::move(what), order.by);
    *hook = a;
    a->state.feeds = std::move(order.feeds);
    a->state.fetches.resize(order.fetches);
    if (r.trace) a->state.tracer = &a->tracer.emplace();
    std::unique_lock hold(mutex_);
    if (!stopped_) {
      a->done = std::move(order.done);
      return active_[r.run] = a;
    }
    hold.unlock();
    exchange_.end(r.run);
    throw error(errc::unavailable, name_ + " is being stopped");
  }
  static void expect_room(const ordered_run& order, const ends& needs) {
    if (session_of(order.what.run) != order.what.session)
      throw error(errc::invalid_argument, "run " + std::to_string(order.what.run) + " is none of session " +
                                              std::to_string(order.what.session));
    if (needs.feeds > order.feeds.size() || needs.fetches > order.fetches)
      throw error(errc::invalid_argument, "the step takes " + std::to_string(needs.feeds) + " feeds and yields " +
                                              std::to_string(needs.fetches) + " fetches, where the run has " +
                                              std::to_string(order.feeds.size()) + " and " +
                                              std::to_string(order.fetches));
  }
  bool peers_are_up(const kept_step& step) {
    return std::all_of(step.peers.begin(), step.peers.end(),
                       [&](const auto& p) { return exchange_.way_to(p.first)->up(); });
  }
  // One that has not started yet ends at once.
  void fail(const std::shared_ptr<active_run>& a, const error& why) {
    a->state.fail(why);
    start(a);
  }
  void start(const std::shared_ptr<active_run>& a) {
    if (a->started.exchange(true)) return;
    a->step->start(a->state, [this, a] { finish(a); });
  }
  void finish(const std::shared_ptr<active_run>& a) {
    exchange_.end(a->meet->run());
    auto failed = a->state.failure();
    if (failed) failed->in_task(name_);
    const auto done = std::move(a->done);
    run_result result{std::move(a->state.fetches), a->tracer && !failed ? a->tracer->take() : step_trace{}};
    done(std::move(result), failed ? &*failed : nullptr);
    std::lock_guard hold(mutex_);
    active_.erase(a->meet->run());
    idle_.notify_all();
  }
  std::shared_ptr<active_run> find_run(std::uint64_t run) const {
    std::lock_guard hold(mutex_);
    const auto at = active_.find(run);
    return at == active_.end() ? nullptr : at->second;
  }
  template <class Which>
  std::vector<std::shared_ptr<active_run>> runs_if(const Which& which) const {
    std::vector<std::shared_ptr<active_run>> all;
    std::lock_guard hold(mutex_);
    for (const auto& [run, a] : active_)
      if (which(*a)) all.push_back(a);
    return all;
  }
  // Up to three of them, the last ones, since those before have often ended.
  static std::string nodes_of(const kept_step& step) {
    std::string names;
    int left = 3;
    for (const auto& part : step.part.parts)
      for (auto it = part.items.rbegin(); it != part.items.rend() && left > 0; ++it)
        if (it->kind == runtime::part_item::compute && left-- > 0)
          names += (names.empty() ? "'" : ", '") + step.graph->peek(it->node).name + "'";
    return names.empty() ? "of no nodes" : "it computes " + names;
  }

  rpc::network& net_;
  const std::string name_;
  runtime::task& task_;
  exchange& exchange_;
  builders& builders_;
  thread_pool& alarms_;
  kept_steps steps_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  bool stopped_ = false;
  std::map<std::uint64_t, std::shared_ptr<active_run>> active_;
};

}  // namespace pinion::inline v0::distributed

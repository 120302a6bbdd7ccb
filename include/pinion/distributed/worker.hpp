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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/exchange.hpp>
#include <pinion/distributed/run_result.hpp>
#include <pinion/op/variable/state.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/session_bodies.hpp>

namespace pinion::inline v0::distributed {

// Owned by a server. Thread-safe. Callbacks come once, in any thread.
class worker {
 public:
  using registered = std::function<void(const error*)>;
  enum class begin_in { this_thread, pool };

  worker(rpc::network& net, std::string name, runtime::task& on, exchange& values)
      : net_(net), name_(std::move(name)), task_(on), exchange_(values) {}

  std::vector<device_info> devices() const { return task_.device_infos(); }

  // Connects with the peers of the step, then compiles it.
  void register_step(std::uint64_t owner, register_step r, registered done) {
    auto step = std::make_shared<kept_step>();
    step->owner = owner;
    step->session = r.session;
    step->peers = incarnations(r.peers.begin(), r.peers.end());
    step->part = std::move(r.part);
    step->soft = r.soft;
    meet_peers(step, std::chrono::seconds(2),
               [this, step, number = r.step, done = std::move(done)](const error* failed) {
                 if (failed) return done(failed);
                 task_.inter_op.schedule([this, step, number, done] { compile(step, number, done); });
               });
  }

  // Computes what was registered; `fetches` many values come back.
  void run(const run_step& r, std::uint64_t owner, std::vector<any_tensor> feeds, std::size_t fetches, begin_in where,
           run_ended done) {
    std::shared_ptr<active_run> a;
    try {
      a = begin(r, owner, std::move(feeds), fetches, std::move(done));
    } catch (...) {
      const error failed = current_error().in_task(name_);
      return done({}, &failed);
    }
    if (!peers_are_up(*a->registered))  // they may have lost each other since the last run, and found each other again
      meet_peers(a->registered, std::chrono::milliseconds(500), [this, a](const error* failed) {
        if (failed) a->state.fail(*failed);
        task_.inter_op.schedule([this, a] { start(a); });
      });
    else if (where == begin_in::pool)
      task_.inter_op.schedule([this, a] { start(a); });
    else
      start(a);
  }

  // What happened to the state that a session uses, and that its people should know. Each is told once.
  std::vector<std::string> take_notices(std::uint64_t session) {
    std::lock_guard hold(mutex_);
    if (notices_.empty()) return {};
    const auto at = notices_.find(session);
    if (at == notices_.end()) return {};
    auto taken = std::move(at->second);
    notices_.erase(at);
    return taken;
  }

  void cancel(std::uint64_t run, const error& why) {
    const auto a = find_run(run);
    if (a) fail(a, why);
    exchange_.forget(run);
  }
  // What this task is waiting for in a run, for people; "" if nothing.
  std::string waits_for(std::uint64_t run) const {
    const auto a = find_run(run);
    return a ? a->meet->missing() : std::string();
  }

  void forget_session(std::uint64_t session) {
    std::lock_guard hold(mutex_);
    std::erase_if(steps_, [&](const auto& s) { return s.first.first == session; });
    kernels_.erase(session);
    notices_.erase(session);
    exchange_.forget_session(session);
  }
  // A master that is gone takes its runs and sessions along.
  void forget_owner(std::uint64_t owner, const error& why) {
    std::vector<std::shared_ptr<active_run>> orphans;
    {
      std::lock_guard hold(mutex_);
      for (const auto& [run, a] : active_)
        if (a->owner == owner) orphans.push_back(a);
      std::set<std::uint64_t> gone, back;  // a session whose master has come back is shipped by another owner
      for (const auto& [key, step] : steps_) (step->owner == owner ? gone : back).insert(key.first);
      std::erase_if(steps_, [&](const auto& s) { return s.second->owner == owner; });
      for (const auto session : gone)
        if (back.count(session) == 0) exchange_.forget_session(session);
    }
    for (const auto& a : orphans) fail(a, why);
  }
  // Steps compiled before are compiled again when they are next run: their variables are gone.
  void reset(const std::vector<std::string>& containers) {
    std::lock_guard hold(mutex_);
    if (containers.empty()) task_.resources.clear();
    for (const auto& c : containers) task_.resources.clear(c);
    for (auto& [session, kernels] : kernels_) kernels->clear();
    for (auto& [key, step] : steps_) step->stale = true;
  }

  // Fails what runs, and waits until it has ended.
  void stop(const error& why) {
    std::vector<std::shared_ptr<active_run>> all;
    {
      std::lock_guard hold(mutex_);
      stopped_ = true;
      for (const auto& [run, a] : active_) all.push_back(a);
    }
    for (const auto& a : all) fail(a, why);
    std::unique_lock hold(mutex_);
    idle_.wait(hold, [this] { return active_.empty(); });
  }

 private:
  // A subgraph under its number. Compiled under the lock of the worker's table.
  struct kept_step {
    std::uint64_t owner = 0, session = 0;
    incarnations peers;
    subgraph part;
    std::shared_ptr<const pinion::graph> graph;
    std::shared_ptr<runtime::compiled_step> compiled;
    bool stale = false;
    bool soft = false;
  };
  struct active_run {
    active_run(std::shared_ptr<remote_rendezvous> r, std::shared_ptr<runtime::compiled_step> what,
               std::shared_ptr<const kept_step> from, std::uint64_t who)
        : meet(std::move(r)),
          step(std::move(what)),
          registered(std::move(from)),
          owner(who),
          state(*meet, static_cast<std::int64_t>(meet->run())) {}
    std::shared_ptr<remote_rendezvous> meet;
    std::shared_ptr<runtime::compiled_step> step;  // as it was when the run began: a reset compiles another
    std::shared_ptr<const kept_step> registered;
    std::uint64_t owner;
    std::optional<step_tracer> tracer;
    runtime::step_state state;
    run_ended done;
    std::atomic<bool> started{false};
  };
  using step_key = std::pair<std::uint64_t, std::uint64_t>;

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

  void compile(const std::shared_ptr<kept_step>& step, std::uint64_t number, const registered& done) {
    std::optional<error> failed;
    try {
      step->graph = rebuild(step->part);
      warn_of_clashes(*step);
      for (const auto& part : step->part.parts) expect_device(part);
      std::lock_guard hold(mutex_);
      if (stopped_) throw error(errc::unavailable, name_ + " is being stopped");
      compile_now(*step);
      steps_[{step->session, number}] = step;
    } catch (...) {
      failed = current_error().in_task(name_);
    }
    done(failed ? &*failed : nullptr);
  }
  void expect_device(const runtime::partition& part) const {
    if (part.device < 0 || static_cast<std::size_t>(part.device) >= task_.devices.size())
      throw error(errc::invalid_argument, name_ + " has no device number " + std::to_string(part.device));
  }
  // A variable that this step means to be something else than the session that has it: that session is told too. The
  // step itself fails when its kernels look the variable up.
  void warn_of_clashes(const kept_step& step) {
    std::lock_guard hold(mutex_);
    for (node_id id = 0; id < step.graph->size(); ++id) {
      const node& mine = (*step.graph)[id];
      if (mine.op != op::variable::name || mine.attrs.begin() == mine.attrs.end()) continue;
      for (const auto& [key, other] : steps_)
        if (key.first != step.session) warn_of_clash(mine, *other, key.first);
    }
  }
  void warn_of_clash(const node& mine, const kept_step& other, std::uint64_t session) {
    for (node_id id = 0; id < other.graph->size(); ++id) {
      const node& theirs = (*other.graph)[id];
      if (theirs.op != op::variable::name || theirs.attrs.begin() == theirs.attrs.end()) continue;
      if (op::state_key(mine) != op::state_key(theirs) || op::agree(mine, theirs)) continue;
      const std::string notice = "another session asked for the variable '" + op::state_key(mine).second +
                                 "' of this one as " + op::type_text(mine) + " (made at " + to_string(mine.where) +
                                 "), where it is " + op::type_text(theirs) + " (made at " + to_string(theirs.where) +
                                 "); it was refused";
      auto& told = notices_[session];
      if (std::find(told.begin(), told.end(), notice) == told.end()) told.push_back(notice);
    }
  }
  // With the lock.
  void compile_now(kept_step& step) {
    const auto kernels = kernels_of(step.session);
    step.compiled =
        std::make_shared<runtime::compiled_step>(step.part.parts, *step.graph, task_, *kernels,
                                                 std::make_shared<runtime::session_bodies>(task_, kernels, step.soft));
    step.stale = false;
  }
  std::shared_ptr<runtime::session_kernels> kernels_of(std::uint64_t session) {
    auto& k = kernels_[session];
    if (!k) k = std::make_shared<runtime::session_kernels>();
    return k;
  }

  // ---- running

  std::shared_ptr<active_run> begin(const run_step& r, std::uint64_t owner, std::vector<any_tensor> feeds,
                                    std::size_t fetches, run_ended&& done) {
    std::shared_ptr<kept_step> step;
    std::shared_ptr<runtime::compiled_step> compiled;
    {
      std::lock_guard hold(mutex_);
      if (stopped_) throw error(errc::unavailable, name_ + " is being stopped");
      const auto at = steps_.find({r.session, r.step});
      if (at == steps_.end())
        throw error(errc::aborted, name_ + " does not know this step: it was restarted, or the session was closed");
      step = at->second;
      if (step->stale) compile_now(*step);
      compiled = step->compiled;
    }
    auto hook = std::make_shared<std::weak_ptr<active_run>>();
    auto meet = exchange_.begin(r.run, step->peers, [hook](const error& why) {
      if (const auto a = hook->lock()) a->state.fail(why);
    });
    auto a = std::make_shared<active_run>(std::move(meet), std::move(compiled), std::move(step), owner);
    *hook = a;
    a->state.feeds = std::move(feeds);
    a->state.fetches.resize(fetches);
    if (r.trace) a->state.tracer = &a->tracer.emplace();
    a->done = std::move(done);
    std::lock_guard hold(mutex_);
    active_[r.run] = a;
    return a;
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

  rpc::network& net_;
  const std::string name_;
  runtime::task& task_;
  exchange& exchange_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  bool stopped_ = false;
  std::map<step_key, std::shared_ptr<kept_step>> steps_;
  std::map<std::uint64_t, std::shared_ptr<runtime::session_kernels>> kernels_;
  std::map<std::uint64_t, std::shared_ptr<active_run>> active_;
  std::map<std::uint64_t, std::vector<std::string>> notices_;  // by session
};

}  // namespace pinion::inline v0::distributed

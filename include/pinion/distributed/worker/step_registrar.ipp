// Bodies of <pinion/distributed/worker/step_registrar.hpp>.
#pragma once

#include <chrono>
#include <mutex>
#include <utility>

#include <pinion/distributed/worker/step_registrar.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void step_registrar::register_step(const requester& by, distributed::register_step r, std::uint64_t memory,
                                               registered done) {
  keep(by,
       std::make_shared<kept_step>(kept_step{.session = std::move(r.session),
                                             .number = r.step,
                                             .peers = incarnations(r.peers.begin(), r.peers.end()),
                                             .part = std::move(r.part),
                                             .soft = r.soft,
                                             .of_peer = !by.is_own_master(),
                                             .memory = memory}),
       std::move(done));
}

PINION_DECL void step_registrar::register_known(const requester& by, distributed::register_known r,
                                                std::uint64_t memory, completion<bool> done) {
  const auto known = graphs_.find<kept_part>(r.nodes);
  if (!known) return done(false);
  keep(by,
       std::make_shared<kept_step>(kept_step{.session = std::move(r.session),
                                             .number = r.step,
                                             .peers = incarnations(r.peers.begin(), r.peers.end()),
                                             .part = {{}, known->stub, std::move(r.parts)},
                                             .soft = r.soft,
                                             .of_peer = !by.is_own_master(),
                                             .graph = known->graph,
                                             .memory = memory + known->memory}),
       [done = std::move(done)](outcome<> kept) { done(std::move(kept).then([] { return true; })); });
}

PINION_DECL void step_registrar::keep(const requester& by, const kept_steps::step_ref& step, registered done) {
  std::shared_ptr<kept_steps::claim> claim;
  try {
    expect_of(by, step->session);
    for (const auto& [task, incarnation] : step->peers)
      if (!exchange_.knows(task)) throw error(errc::not_found, "the cluster has no task " + task);
    claim = steps_.claimed(step->session, by);
  } catch (...) {
    return done(current_error().in_task(name_));
  }
  const std::uint64_t line = line_of(by, step->session);
  const auto then = [this, claim, step, line, done](outcome<> met) {
    if (met) met = outcome_of([&] { builders_.add(line, [this, claim, step, done] { build(*claim, step, done); }); });
    if (met) return;
    claim->end();
    done(std::move(met));
  };
  const auto meets = outcome_of([&] { meet_peers(step, std::chrono::seconds(2), then); });
  if (!meets) then(meets);
}

PINION_DECL bool step_registrar::is_of(const requester& by, const session_id& session) const {
  if (by.is_own_master()) return true;
  return by.name != name_ && exchange_.knows(by.name) && by.speaks_for(session);
}

PINION_DECL void step_registrar::expect_of(const requester& by, const session_id& session) const {
  if (is_of(by, session)) return;
  if (!by.name.empty() && !exchange_.knows(by.name))
    throw error(errc::permission_denied, "the cluster of " + name_ + " has no task " + by.name +
                                             ": one that joins it is of one of its jobs, and both are elastic "
                                             "(server_config.elastic)");
  throw error(errc::permission_denied, "a session of the master of " + session.master + " is not for " +
                                           (by.name.empty() ? "a client" : by.name) +
                                           " to use: only that master registers, runs, cancels and forgets its steps");
}

PINION_DECL void step_registrar::meet_peers(const std::shared_ptr<const kept_step>& step, rpc::duration at_most,
                                            registered done) {
  struct meeting {
    std::mutex mutex;
    std::size_t left = 0;
    outcome<> met;  // success so far, or the first failure
  };
  auto all = std::make_shared<meeting>();
  all->left = step->peers.size();
  if (all->left == 0) return done({});
  const auto limit = net_.now() + at_most;  // short, since the master has just met them all
  for (const auto& [task, incarnation] : step->peers) {
    const auto route = exchange_.route_to(task);
    route->connect(limit, [all, route, incarnation = incarnation, done](const outcome<>& connected) {
      {
        std::lock_guard hold(all->mutex);
        if (all->met) all->met = met(*route, connected, incarnation);
        if (--all->left > 0) return;
      }
      done(all->met);
    });
  }
}

PINION_DECL outcome<> step_registrar::met(const rpc::channel& route, const outcome<>& connected,
                                          std::uint64_t incarnation) {
  if (!connected) {
    const error& why = *connected.failure();
    const bool late = why.code() == errc::deadline_exceeded;
    return error(late ? errc::unavailable : why.code(), why.sentence()).in_task(route.peer());
  }
  if (route.incarnation() == incarnation) return {};
  return error(errc::aborted, route.title() + " was restarted").in_task(route.peer());
}

PINION_DECL void step_registrar::build(kept_steps::claim& by, const kept_steps::step_ref& step,
                                       const registered& done) {
  outcome<> built;
  try {
    steps_.build(by.session(), step);
  } catch (...) {
    built = current_error().in_task(name_);
  }
  by.end();
  done(std::move(built));
}

}}}  // namespace pinion::v0::distributed

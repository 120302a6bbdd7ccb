// Bodies of <pinion/distributed/worker/kept_steps.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/worker/kept_steps.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/runtime/session_bodies.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL kept_steps::session_ref kept_steps::claim(std::uint64_t session, const party& by) {
  std::lock_guard hold(mutex_);
  expect_running();
  auto& one = sessions_[session];
  if (!one) one = std::make_shared<kept_session>(kept_session{.owner = by});
  expect_owner(*one, session, by);
  one->owner = by;  // the party may have a new connection
  ++one->registering;
  return one;
}

PINION_DECL void kept_steps::build(const session_ref& session, const step_ref& step) {
  step->graph = rebuild(step->part);
  step->needs = ends_of(step->part.parts);
  expect_sound(*step, session->owner);
  list_variables(*step);
  warn_of_clashes(*step);
  compile(*session, *step);
  std::shared_ptr<kept_step> replaced = step;  // freed without the lock
  std::lock_guard hold(mutex_);
  expect_running();
  const auto at = sessions_.find(step->session);
  if (at == sessions_.end() || at->second != session)
    throw error(errc::cancelled, "the session was closed while its step was made ready");
  std::swap(session->steps[step->number], replaced);
}

PINION_DECL void kept_steps::give_up(std::uint64_t number, const session_ref& session) {
  std::lock_guard hold(mutex_);
  if (--session->registering > 0 || !session->steps.empty()) return;
  const auto at = sessions_.find(number);
  if (at != sessions_.end() && at->second == session) sessions_.erase(at);
}

PINION_DECL kept_steps::found kept_steps::find(const run_step& r, const party& by) const {
  std::lock_guard hold(mutex_);
  expect_running();
  const auto session = sessions_.find(r.session);
  if (session == sessions_.end()) throw unknown();
  expect_owner(*session->second, r.session, by);
  const auto step = session->second->steps.find(r.step);
  if (step == session->second->steps.end()) throw unknown();
  const bool fresh = step->second->life == life_;
  return {session->second, step->second, fresh ? step->second->compiled : nullptr};
}

PINION_DECL std::shared_ptr<runtime::compiled_step> kept_steps::compile(const kept_session& session, kept_step& step) {
  for (;;) {
    std::shared_ptr<runtime::session_kernels> kernels;
    std::uint64_t life = 0;
    {
      std::lock_guard hold(mutex_);
      kernels = session.kernels;
      life = life_;
    }
    auto made =
        std::make_shared<runtime::compiled_step>(step.part.parts, step.view(), task_, *kernels,
                                                 std::make_shared<runtime::session_bodies>(task_, kernels, step.soft));
    std::lock_guard hold(mutex_);
    if (life != life_) continue;  // a reset has cleared the variables it found
    step.life = life;
    return step.compiled = std::move(made);
  }
}

PINION_DECL bool kept_steps::owns(const party& by, std::uint64_t session) const {
  std::lock_guard hold(mutex_);
  const auto at = sessions_.find(session);
  return at != sessions_.end() && are_one(at->second->owner, by);
}

PINION_DECL kept_steps::session_ref kept_steps::forget(std::uint64_t session, const party& by) {
  std::lock_guard hold(mutex_);
  const auto at = sessions_.find(session);
  if (at == sessions_.end() || !are_one(at->second->owner, by)) return nullptr;
  auto taken = std::move(at->second);
  sessions_.erase(at);
  return taken;
}

PINION_DECL std::vector<std::pair<std::uint64_t, kept_steps::session_ref>> kept_steps::forget_all_of(
    std::uint64_t channel) {
  std::vector<std::pair<std::uint64_t, session_ref>> taken;
  std::lock_guard hold(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const bool its = at->second->owner.channel == channel;
    if (its) taken.emplace_back(at->first, std::move(at->second));
    at = its ? sessions_.erase(at) : std::next(at);
  }
  return taken;
}

PINION_DECL void kept_steps::renew() {
  std::lock_guard hold(mutex_);
  ++life_;
  for (const auto& [number, session] : sessions_) session->kernels = std::make_shared<runtime::session_kernels>();
}

PINION_DECL void kept_steps::stop() {
  std::lock_guard hold(mutex_);
  stopped_ = true;
}

PINION_DECL std::vector<std::string> kept_steps::take_notices(std::uint64_t session) {
  std::lock_guard hold(mutex_);
  const auto at = sessions_.find(session);
  return at == sessions_.end() ? std::vector<std::string>() : std::exchange(at->second->notices, {});
}

PINION_DECL void kept_steps::expect_running() const {
  if (stopped_) throw error(errc::unavailable, name_ + " is being stopped");
}

PINION_DECL void kept_steps::expect_owner(const kept_session& s, std::uint64_t number, const party& by) const {
  if (are_one(s.owner, by)) return;
  const std::string whose = s.owner.is_own_master() ? "the master of " + name_
                            : s.owner.name.empty()  ? "another client"
                                                    : s.owner.name;
  throw error(errc::permission_denied, "session " + std::to_string(number) + " belongs to " + whose +
                                           ", which registered its first step in " + name_);
}

PINION_DECL error kept_steps::unknown() const {
  return error(errc::aborted, name_ + " does not know this step: it was restarted, or the session was closed");
}

PINION_DECL void kept_steps::expect_sound(const kept_step& step, const party& by) const {
  for (const auto& part : step.part.parts)
    if (part.device < 0 || static_cast<std::size_t>(part.device) >= task_.devices.size())
      throw error(errc::invalid_argument, name_ + " has no device number " + std::to_string(part.device));
  if (by.is_own_master()) return;
  expect_no_ends(step.view(), step.part.parts);
  expect_transfers(step.view(), step.part.parts, name_,
                   [&](std::string_view task) { return step.peers.find(task) != step.peers.end(); });
}

PINION_DECL void kept_steps::list_variables(kept_step& step) {
  const graph_view g = step.view();
  for (node_id id = 0; id < g.size(); ++id) {
    const node& n = g[id];
    const bool computed = n.op == op::variable::name && n.attrs.begin() != n.attrs.end();
    if (computed) step.variables.emplace(state::key_of(n), id);
  }
}

PINION_DECL void kept_steps::warn_of_clashes(const kept_step& step) {
  if (step.variables.empty()) return;
  for (const auto& [session, other] : of_others(step.session))
    for (const auto& [key, id] : step.variables)
      if (const auto at = other->variables.find(key); at != other->variables.end())
        warn_of_clash(step.view()[id], other->view()[at->second], *session);
}

PINION_DECL std::vector<std::pair<kept_steps::session_ref, kept_steps::step_ref>> kept_steps::of_others(
    std::uint64_t session) const {
  std::vector<std::pair<session_ref, step_ref>> all;
  std::lock_guard hold(mutex_);
  for (const auto& [number, other] : sessions_)
    if (number != session)
      for (const auto& [unused, step] : other->steps)
        if (!step->variables.empty()) all.emplace_back(other, step);
  return all;
}

PINION_DECL void kept_steps::warn_of_clash(const node& mine, const node& theirs, kept_session& whose) {
  if (state::agree(mine, theirs)) return;
  const std::string notice = "another session asked for the variable '" + state::key_of(mine).second +
                             "' of this one as " + state::type_text(mine) + " (made at " + to_string(mine.where) +
                             "), where it is " + state::type_text(theirs) + " (made at " + to_string(theirs.where) +
                             "); it was refused";
  std::lock_guard hold(mutex_);
  auto& told = whose.notices;
  if (told.size() < most_notices && std::find(told.begin(), told.end(), notice) == told.end()) told.push_back(notice);
}

}}}  // namespace pinion::v0::distributed

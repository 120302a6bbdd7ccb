// Bodies of <pinion/distributed/worker/kept_steps.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/distributed/worker/kept_steps.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/session_bodies.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::uint64_t kept_session::memory() const {
  std::uint64_t sum = 0;
  for (const auto& [number, step] : steps) sum += step->memory;
  return sum;
}

PINION_DECL std::shared_ptr<kept_steps::claim> kept_steps::claimed(const session_id& session, const requester& by) {
  std::shared_ptr<claim> made;  // whose end takes the lock
  std::lock_guard hold(mutex_);
  expect_running();
  const auto at = sessions_.find(session);
  if (at == sessions_.end() && !by.is_own_master()) expect_room_for_session(by.channel);
  const session_ref one = at == sessions_.end() ? std::make_shared<kept_session>() : at->second;
  if (!by.is_own_master() &&
      one->steps.size() + static_cast<std::size_t>(one->registering) >= static_cast<std::size_t>(limits_.steps))
    throw error(errc::resource_exhausted, name_ + " keeps at most " + std::to_string(limits_.steps) +
                                              " steps of a session (server_config.limits.steps)");
  made = std::make_shared<claim>(*this, session, one);
  ++one->registering;
  if (at == sessions_.end()) sessions_.emplace(session, one);
  one->channel = by.channel;  // the master may have a new connection
  return made;
}

PINION_DECL void kept_steps::expect_room_for_session(std::uint64_t channel) const {
  const auto most = static_cast<std::ptrdiff_t>(limits_.sessions_of_all);
  if (std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s.second->channel == channel; }) >=
      most)
    throw error(errc::resource_exhausted, name_ + " keeps at most " + std::to_string(most) +
                                              " sessions of one task (server_config.limits.sessions_of_all)");
}

PINION_DECL void kept_steps::build(const session_ref& session, const step_ref& step) {
  {
    std::lock_guard hold(mutex_);
    expect_in_table(session, *step);  // else its client has gone while the step waited to be built
  }
  const cancellable_work until_forgotten(session->forgotten);
  make_graph(*step);
  step->needs = ends_of(step->part.parts);
  expect_sound(*step);
  list_variables(*step);
  list_awaited(*step);
  warn_of_clashes(*step);
  compile(*session, *step);
  std::shared_ptr<kept_step> replaced = step;  // freed without the lock
  std::lock_guard hold(mutex_);
  expect_running();
  expect_in_table(session, *step);
  if (step->of_peer) expect_memory_for(*session, *step);
  std::swap(session->steps[step->number], replaced);
}

PINION_DECL void kept_steps::make_graph(kept_step& step) {
  if (step.graph) return expect_parts(*step.graph, step.part.stub, step.part.parts);
  const imprint its = step.of_peer ? imprint_of(step.part, graphs_.life()) : imprint();
  step.graph = rebuild(step.part);
  if (!its.is_large()) return;
  graphs_.add(its.of, std::make_shared<const kept_part>(kept_part{step.graph, step.part.stub, step.part.memory}),
              step.part.memory, step.session.master);
}

PINION_DECL void kept_steps::expect_memory_for(const kept_session& session, const kept_step& step) const {
  if (session.memory() + step.memory > limits_.session_bytes)
    throw error(errc::resource_exhausted, "the steps of the session take more than " +
                                              std::to_string(limits_.session_bytes) + " bytes of memory in " + name_ +
                                              " (server_config.limits.session_bytes)");
  if (memory_of_peers() + step.memory > limits_.session_bytes_of_all)
    throw error(errc::resource_exhausted, "the steps of all sessions take more than " +
                                              std::to_string(limits_.session_bytes_of_all) + " bytes of memory in " +
                                              name_ + " (server_config.limits.session_bytes_of_all)");
}

PINION_DECL std::uint64_t kept_steps::memory_of_peers() const {
  std::uint64_t sum = 0;
  for (const auto& [name, session] : sessions_)
    if (session->channel != 0) sum += session->memory();
  return sum;
}

PINION_DECL void kept_steps::expect_in_table(const session_ref& session, const kept_step& step) const {
  const auto at = sessions_.find(step.session);
  if (at == sessions_.end() || at->second != session)
    throw error(errc::cancelled, "the session was closed while its step was made ready");
}

PINION_DECL void kept_steps::give_up(const session_id& name, const session_ref& session) {
  std::lock_guard hold(mutex_);
  if (--session->registering > 0 || !session->steps.empty()) return;
  const auto at = sessions_.find(name);
  if (at != sessions_.end() && at->second == session) sessions_.erase(at);
}

PINION_DECL kept_steps::found kept_steps::find(const run_step& r) const {
  std::lock_guard hold(mutex_);
  expect_running();
  const auto session = sessions_.find(r.run.session);
  if (session == sessions_.end()) throw unknown();
  const auto step = session->second->steps.find(r.step);
  if (step == session->second->steps.end()) throw unknown();
  const bool fresh = step->second->life == life_;
  return {session->second, step->second, fresh ? step->second->compiled : nullptr};
}

PINION_DECL std::shared_ptr<runtime::compiled_step> kept_steps::compile(const kept_session& session, kept_step& step) {
  const auto& parts = step.part.parts;
  const bool checks_values = !parts.empty() && parts.front().check_values;  // they agree
  for (;;) {
    std::shared_ptr<runtime::session_kernels> kernels;
    std::uint64_t life = 0;
    {
      std::lock_guard hold(mutex_);
      kernels = session.kernels;
      life = life_;
    }
    auto made = std::make_shared<runtime::compiled_step>(
        step.part.parts, step.view(), task_, *kernels,
        std::make_shared<runtime::session_bodies>(task_, kernels, step.soft, checks_values));
    std::lock_guard hold(mutex_);
    if (life != life_) continue;  // a reset has cleared the variables it found
    step.life = life;
    return step.compiled = std::move(made);
  }
}

PINION_DECL bool kept_steps::knows(const session_id& session) const {
  std::lock_guard hold(mutex_);
  return sessions_.count(session) > 0;
}

PINION_DECL kept_steps::session_ref kept_steps::forget(const session_id& session) {
  std::lock_guard hold(mutex_);
  auto taken = sessions_.extract(session);
  if (taken) taken.mapped()->forgotten.cancel();
  return taken ? std::move(taken.mapped()) : nullptr;
}

PINION_DECL std::vector<std::pair<session_id, kept_steps::session_ref>> kept_steps::forget_all_of(
    std::uint64_t channel) {
  std::vector<std::pair<session_id, session_ref>> taken;
  std::lock_guard hold(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const bool its = at->second->channel == channel;
    if (its) at->second->forgotten.cancel();
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

PINION_DECL std::vector<std::string> kept_steps::take_notices(const session_id& session) {
  std::lock_guard hold(mutex_);
  const auto at = sessions_.find(session);
  return at == sessions_.end() ? std::vector<std::string>() : std::exchange(at->second->notices, {});
}

PINION_DECL void kept_steps::expect_running() const {
  if (stopped_) throw rpc::is_stopping(name_);
}

PINION_DECL error kept_steps::unknown() const {
  return error(errc::aborted, name_ + " does not know this step: it was restarted, or the session was closed");
}

PINION_DECL void kept_steps::expect_sound(const kept_step& step) const {
  for (const auto& part : step.part.parts)
    if (part.device < 0 || static_cast<std::size_t>(part.device) >= task_.devices.size())
      throw error(errc::invalid_argument, name_ + " has no device number " + std::to_string(part.device));
  if (!step.of_peer) return;
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

PINION_DECL void kept_steps::list_awaited(kept_step& step) const {
  for (const auto& part : step.part.parts)
    for (const auto& it : part.items) {
      if (it.kind != runtime::part_item::receive || it.key.from_task() == name_) continue;
      const auto at = step.awaited.emplace(it.key, std::nullopt).first;
      if (it.index >= 0) at->second = step.view().type_of({it.node, it.index});
      if (it.narrow) at->second->dtype = dtype::bfloat16;
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
    const session_id& session) const {
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

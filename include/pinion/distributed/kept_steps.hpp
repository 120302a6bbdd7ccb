// The steps that a worker keeps, and whose they are.
//
// Invariants
//   1. A session belongs to whoever registered its first step, until it is forgotten: nobody else registers, runs,
//      cancels or forgets anything of it. [S4]
//   2. Nothing is checked, compiled, compared or let go under the lock of the table.
//   3. What was compiled before a reset is compiled again before it runs: its variables are gone.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/exchange.hpp>
#include <pinion/distributed/party.hpp>
#include <pinion/op/variable/state.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/runtime/session_bodies.hpp>

namespace pinion::inline v0::distributed {

// A subgraph under its number.
struct kept_step {
  std::uint64_t session = 0, number = 0;
  incarnations peers;
  subgraph part;
  bool soft = false;
  std::shared_ptr<const pinion::graph> graph = {};
  ends needs = {};
  std::map<std::pair<std::string, std::string>, node_id> variables = {};  // by container and name

  // Guarded by the table.
  std::shared_ptr<runtime::compiled_step> compiled = {};
  std::uint64_t life = 0;  // of the task's state, when it was compiled
};

struct kept_session {
  party owner;
  std::shared_ptr<runtime::session_kernels> kernels = std::make_shared<runtime::session_kernels>();
  std::map<std::uint64_t, std::shared_ptr<kept_step>> steps = {};
  std::vector<std::string> notices = {};
  int registering = 0;  // calls that will add a step
};

// Owned by a worker. Thread-safe. What compiles takes its time in the calling thread, which must not be the network's.
class kept_steps {
 public:
  using session_ref = std::shared_ptr<kept_session>;
  using step_ref = std::shared_ptr<kept_step>;

  kept_steps(std::string task_name, runtime::task& on) : name_(std::move(task_name)), task_(on) {}

  // ---- registering: claim(), then build() and give_up(), or give_up() only

  // Throws permission_denied for a session of somebody else.
  session_ref claim(std::uint64_t session, const party& by) {
    std::lock_guard hold(mutex_);
    expect_running();
    auto& one = sessions_[session];
    if (!one) one = std::make_shared<kept_session>(kept_session{.owner = by});
    expect_owner(*one, session, by);
    one->owner = by;  // by the connection that it has now
    ++one->registering;
    return one;
  }
  // Makes the graph, compiles it and puts it where runs find it. Throws what is wrong with it; cancelled where the
  // session was forgotten meanwhile.
  void build(const session_ref& session, const step_ref& step) {
    step->graph = rebuild(step->part);
    step->needs = ends_of(step->part.parts);
    expect_sound(*step, session->owner);
    list_variables(*step);
    warn_of_clashes(*step);
    compile(*session, *step);
    std::shared_ptr<kept_step> replaced = step;  // let go without the lock
    std::lock_guard hold(mutex_);
    expect_running();
    const auto at = sessions_.find(step->session);
    if (at == sessions_.end() || at->second != session)
      throw error(errc::cancelled, "the session was closed while its step was made ready");
    std::swap(session->steps[step->number], replaced);
  }
  // A session without steps, and without calls that will add one, is nobody's.
  void give_up(std::uint64_t number, const session_ref& session) {
    std::lock_guard hold(mutex_);
    if (--session->registering > 0 || !session->steps.empty()) return;
    const auto at = sessions_.find(number);
    if (at != sessions_.end() && at->second == session) sessions_.erase(at);
  }

  // ---- running

  struct found {
    session_ref session;
    step_ref step;
    std::shared_ptr<runtime::compiled_step> compiled;  // null: to be compiled again
  };
  found find(const run_step& r, const party& by) const {
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
  std::shared_ptr<runtime::compiled_step> compile(const kept_session& session, kept_step& step) {
    for (;;) {
      std::shared_ptr<runtime::session_kernels> kernels;
      std::uint64_t life = 0;
      {
        std::lock_guard hold(mutex_);
        kernels = session.kernels;
        life = life_;
      }
      auto made = std::make_shared<runtime::compiled_step>(
          step.part.parts, *step.graph, task_, *kernels,
          std::make_shared<runtime::session_bodies>(task_, kernels, step.soft));
      std::lock_guard hold(mutex_);
      if (life != life_) continue;  // the variables that it found are gone
      step.life = life;
      return step.compiled = std::move(made);
    }
  }

  // ---- whose

  bool owns(const party& by, std::uint64_t session) const {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(session);
    return at != sessions_.end() && are_one(at->second->owner, by);
  }
  // Returns the session, to be let go where there is time for that; null if there is none, or it is somebody else's.
  session_ref forget(std::uint64_t session, const party& by) {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(session);
    if (at == sessions_.end() || !are_one(at->second->owner, by)) return nullptr;
    auto taken = std::move(at->second);
    sessions_.erase(at);
    return taken;
  }
  // Those that belong to a connection.
  std::vector<std::pair<std::uint64_t, session_ref>> forget_all_of(std::uint64_t channel) {
    std::vector<std::pair<std::uint64_t, session_ref>> taken;
    std::lock_guard hold(mutex_);
    for (auto at = sessions_.begin(); at != sessions_.end();) {
      const bool its = at->second->owner.channel == channel;
      if (its) taken.emplace_back(at->first, std::move(at->second));
      at = its ? sessions_.erase(at) : std::next(at);
    }
    return taken;
  }

  // ---- all of them

  // To be called when state has been cleared.
  void renew() {
    std::lock_guard hold(mutex_);
    ++life_;
    for (const auto& [number, session] : sessions_) session->kernels = std::make_shared<runtime::session_kernels>();
  }
  void stop() {
    std::lock_guard hold(mutex_);
    stopped_ = true;
  }
  // Tells what happened to the state that a session uses and its people should know. Each is told once.
  std::vector<std::string> take_notices(std::uint64_t session) {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(session);
    return at == sessions_.end() ? std::vector<std::string>() : std::exchange(at->second->notices, {});
  }

 private:
  static constexpr std::size_t most_notices = 32;  // that nobody has taken: a peer can make many

  void expect_running() const {
    if (stopped_) throw error(errc::unavailable, name_ + " is being stopped");
  }
  void expect_owner(const kept_session& s, std::uint64_t number, const party& by) const {
    if (are_one(s.owner, by)) return;
    const std::string whose = s.owner.is_own_master() ? "the master of " + name_
                              : s.owner.name.empty()  ? "another client"
                                                      : s.owner.name;
    throw error(errc::permission_denied, "session " + std::to_string(number) + " belongs to " + whose +
                                             ", which registered its first step in " + name_);
  }
  error unknown() const {
    return error(errc::aborted, name_ + " does not know this step: it was restarted, or the session was closed");
  }

  void expect_sound(const kept_step& step, const party& by) const {
    for (const auto& part : step.part.parts)
      if (part.device < 0 || static_cast<std::size_t>(part.device) >= task_.devices.size())
        throw error(errc::invalid_argument, name_ + " has no device number " + std::to_string(part.device));
    if (by.is_own_master()) return;
    expect_no_ends(*step.graph, step.part.parts);
    expect_transfers(*step.graph, step.part.parts, name_,
                     [&](std::string_view task) { return step.peers.find(task) != step.peers.end(); });
  }

  // ---- two sessions that mean different variables by one name

  static void list_variables(kept_step& step) {
    for (node_id id = 0; id < step.graph->size(); ++id) {
      const node& n = (*step.graph)[id];
      const bool computed = n.op == op::variable::name && n.attrs.begin() != n.attrs.end();
      if (computed) step.variables.emplace(op::state_key(n), id);
    }
  }
  // A variable that this step means to be something else than the session that has it: that session is told too. The
  // step itself fails when its kernels look the variable up.
  void warn_of_clashes(const kept_step& step) {
    if (step.variables.empty()) return;
    for (const auto& [session, other] : of_others(step.session))
      for (const auto& [key, id] : step.variables)
        if (const auto at = other->variables.find(key); at != other->variables.end())
          warn_of_clash((*step.graph)[id], (*other->graph)[at->second], *session);
  }
  std::vector<std::pair<session_ref, step_ref>> of_others(std::uint64_t session) const {
    std::vector<std::pair<session_ref, step_ref>> all;
    std::lock_guard hold(mutex_);
    for (const auto& [number, other] : sessions_)
      if (number != session)
        for (const auto& [unused, step] : other->steps)
          if (!step->variables.empty()) all.emplace_back(other, step);
    return all;
  }
  void warn_of_clash(const node& mine, const node& theirs, kept_session& whose) {
    if (op::agree(mine, theirs)) return;
    const std::string notice = "another session asked for the variable '" + op::state_key(mine).second +
                               "' of this one as " + op::type_text(mine) + " (made at " + to_string(mine.where) +
                               "), where it is " + op::type_text(theirs) + " (made at " + to_string(theirs.where) +
                               "); it was refused";
    std::lock_guard hold(mutex_);
    auto& told = whose.notices;
    if (told.size() < most_notices && std::find(told.begin(), told.end(), notice) == told.end()) told.push_back(notice);
  }

  const std::string name_;
  runtime::task& task_;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::uint64_t life_ = 1;
  std::map<std::uint64_t, session_ref> sessions_;
};

}  // namespace pinion::inline v0::distributed

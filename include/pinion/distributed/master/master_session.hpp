// One session at its master: a replica of its graph, the steps made of it, and their runs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/known_tasks.hpp>
#include <pinion/distributed/master/session_graph.hpp>
#include <pinion/distributed/master/session_quota.hpp>
#include <pinion/distributed/master/session_runs.hpp>
#include <pinion/distributed/wire/cancellations.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The client that opened a session.
struct session_owner {
  std::uint64_t client = 0;  // its channel; 0: a client in this process
  std::string address = {};  // of that client
  std::uint64_t number = 0;  // the count of sessions when it opened this one
};

// A session at its master. Shared by the calls of its client and by its runs. Thread-safe. Every function but run()
// blocks the calling thread, which must not be the network's. Other sessions see its effects only through the state of
// tasks. [S1]
//
// A run takes no lock that is held while a graph is extended, placed or cut. No lock is held while waiting for a task,
// except the one of a step that is shipped again.
class master_session : public std::enable_shared_from_this<master_session> {
 public:
  master_session(master_services& services, std::uint64_t handle, session_owner owner, session_settings settings);

  std::uint64_t handle() const { return runs_.session().number; }
  std::uint64_t client() const { return owner_.client; }
  session_report report() const;
  // The steps and runs of the session, which end as close() says.
  session_runs& runs() { return runs_; }

  // Adds nodes to the graph, as session_graph::extend() and extend_known() do.
  void extend(graph_delta delta, std::uint64_t memory);
  bool extend_known(const fingerprint& delta);
  // Places, cuts and ships a step.
  prepared_reply prepare(const runtime::step_signature& signature, const call_limits& limits, prepare_options how);
  pinion::plan plan(const runtime::step_signature& signature, const call_limits& limits);
  std::vector<device_info> devices(const call_limits& limits);

  // Do all tasks of a step still hold their parts? A task drops them when its connection breaks.
  bool is_fresh(std::uint64_t number) const;
  // Ships lost parts again, but does not wait for a task to come up; returns at once where none is lost. Throws
  // unavailable if a task does not answer, aborted if it was restarted.
  void refresh(std::uint64_t number, deadline until);

  // Runs a step; `done` is called once, in any thread.
  void run(std::uint64_t number, std::vector<any_tensor> feeds, bool trace, deadline until, worker::begin_in where,
           run_ended done);
  // Begins a partial run, as session_runs::begin_partial_run() does.
  std::uint64_t begin_partial_run(std::uint64_t number, session_partial_run::share counted);

  void cancel_steps(const error& why);
  // Cancels its runs and forgets the session on every task. Shared state stays.
  void close(const error& why);
  // Frees the steps and, as session_graph::let_go() says, the graph of a closed session.
  void let_go();

 private:
  enum class parts { all, lost };
  // If the session is closed meanwhile, its tasks are told once more to forget it, since a part may have reached them
  // after close() told them.
  void ship(session_step& step, parts which, deadline until);
  bool is_lost(const step_part& part);
  void ship(step_part& part, deadline until);
  // Ships a part to a task that holds its nodes. Returns false if they are few, or not there.
  bool ship_known(const step_part& part, deadline until);
  void forget_on_tasks();

  master_services& s_;
  const std::shared_ptr<users> in_use_;
  const session_owner owner_;
  session_quota quota_;
  session_runs runs_;
  known_tasks tasks_;
  session_graph graph_;
  cancellations cancellations_;
  mutable std::mutex shipped_;  // guards the generations of the parts of steps
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/master_session.ipp>
#endif

// The steps that a worker keeps, and the sessions that own them.
//
// Invariants
//   1. A session is known by a name that tells its master, so that masters cannot take or use each other's. [S4]
//   2. Nothing is checked, compiled, compared or freed while the lock of the table is held.
//   3. A step compiled before a reset is compiled again before it runs, since its variables are gone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/distributed/worker/kept_graphs.hpp>
#include <pinion/distributed/worker/requester.hpp>
#include <pinion/runtime/compiled_step.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The nodes of a part that was registered, settled, and which of them are stubs: what stays for those who register the
// same nodes again.
struct kept_part {
  std::shared_ptr<const pinion::graph> graph;
  std::vector<bool> stub;
  std::uint64_t memory = 0;  // as estimated when the nodes were received
};

// One registered step: its subgraph, and what was made of it.
struct kept_step {
  session_id session;
  std::uint64_t number = 0;
  incarnations peers;
  subgraph part;
  bool soft = false;
  bool of_peer = false;                             // registered by the master of another task
  std::shared_ptr<const pinion::graph> graph = {};  // settled; of rebuild(), or of the same nodes in another step
  ends needs = {};
  std::map<std::pair<std::string, std::string>, node_id> variables = {};  // by container and name
  awaited_values awaited = {};                                            // from other tasks
  std::uint64_t memory = 0;                                               // as estimated when it was received

  graph_view view() const { return graph_view::of_settled(*graph); }

  // Guarded by the table.
  std::shared_ptr<runtime::compiled_step> compiled = {};
  std::uint64_t life = 0;  // the table's life_ when it was compiled
};

// One session at this worker: its kernels, steps and notices. Guarded by the table; the kernels themselves are
// thread-safe.
struct kept_session {
  std::uint64_t channel = 0;  // the connection by which its master last registered a step; 0: this task's own master
  std::shared_ptr<runtime::session_kernels> kernels = std::make_shared<runtime::session_kernels>();
  std::map<std::uint64_t, std::shared_ptr<kept_step>> steps = {};
  std::vector<std::string> notices = {};
  int registering = 0;  // calls that will add a step
  cancellation forgotten = {};

  std::uint64_t memory() const;
};

// The table of sessions and steps. Owned by a worker. Thread-safe. build() and compile() take long; the network's
// thread must not call them.
class kept_steps {
 public:
  using session_ref = std::shared_ptr<kept_session>;
  using step_ref = std::shared_ptr<kept_step>;

  kept_steps(std::string task_name, runtime::task& on, const server_limits& limits, kept_graphs& graphs)
      : name_(std::move(task_name)), task_(on), limits_(limits), graphs_(graphs) {}

  // ---- registering

  // A session that is registering a step, and stays in the table for that until end(), or until nobody holds this any
  // more, since registrations may be dropped. Then a session with no steps and no other claims is removed. The table
  // outlives it. One thread at a time uses it.
  class claim {
   public:
    claim(kept_steps& of, session_id name, session_ref session)
        : of_(of), name_(std::move(name)), session_(std::move(session)) {}
    claim(const claim&) = delete;
    ~claim() { end(); }
    const session_ref& session() const { return session_; }
    void end() {
      if (const auto ended = std::exchange(session_, nullptr)) of_.give_up(name_, ended);
    }

   private:
    kept_steps& of_;
    const session_id name_;
    session_ref session_;
  };
  // Marks the session as registering. Throws resource_exhausted for a session, or for a step, that is one too many of a
  // peer.
  std::shared_ptr<claim> claimed(const session_id& session, const requester& by);
  // Makes the graph, compiles it and enters the step in the table. Throws what is wrong with the graph; cancelled if
  // the session was forgotten before or meanwhile; resource_exhausted if its steps, or those of all sessions, take too
  // much memory.
  void build(const session_ref& session, const step_ref& step);

  // ---- running

  struct found {
    session_ref session;
    step_ref step;
    std::shared_ptr<runtime::compiled_step> compiled;  // null: must be compiled again
  };
  found find(const run_step& r) const;
  std::shared_ptr<runtime::compiled_step> compile(const kept_session& session, kept_step& step);

  // ---- sessions

  bool knows(const session_id& session) const;
  // Removes a session and returns it, for the caller to free outside the lock; null if there is none.
  session_ref forget(const session_id& session);
  // Removes and returns the sessions that belong to a connection.
  std::vector<std::pair<session_id, session_ref>> forget_all_of(std::uint64_t channel);

  // ---- all of them

  // Makes every step compile again before its next run. Call it when state has been cleared.
  void renew();
  void stop();
  // Returns the notices about state that a session uses, to be shown to its users. Each is returned once.
  std::vector<std::string> take_notices(const session_id& session);

 private:
  static constexpr std::size_t most_notices = 32;  // limit of untaken notices, since a peer can cause many

  void expect_running() const;
  error unknown() const;
  void give_up(const session_id& name, const session_ref& session);
  // Requires, for the next four: the lock is held.
  void expect_in_table(const session_ref& session, const kept_step& step) const;
  void expect_room_for_session(std::uint64_t channel) const;
  void expect_memory_for(const kept_session& session, const kept_step& step) const;
  std::uint64_t memory_of_peers() const;

  // Makes the graph of a step, and keeps it for others; or checks the parts of one that was kept.
  void make_graph(kept_step& step);
  void expect_sound(const kept_step& step) const;
  void list_awaited(kept_step& step) const;

  // ---- two sessions that mean different variables by one name

  static void list_variables(kept_step& step);
  // Notifies the other session if this step and that session use one variable name for different variables. The step
  // itself fails when its kernels look the variable up.
  void warn_of_clashes(const kept_step& step);
  std::vector<std::pair<session_ref, step_ref>> of_others(const session_id& session) const;
  void warn_of_clash(const node& mine, const node& theirs, kept_session& whose);

  const std::string name_;
  runtime::task& task_;
  const server_limits limits_;
  kept_graphs& graphs_;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::uint64_t life_ = 1;
  std::map<session_id, session_ref> sessions_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/kept_steps.ipp>
#endif

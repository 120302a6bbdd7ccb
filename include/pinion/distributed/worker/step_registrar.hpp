// The masters' way to a worker: who may use a session, and how its steps come to be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/builders.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/distributed/worker/kept_graphs.hpp>
#include <pinion/distributed/worker/kept_steps.hpp>
#include <pinion/distributed/worker/requester.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Registers steps: it connects with their peers, has them compiled by the builders, and kept. Owned by a worker, which
// keeps what it refers to. Thread-safe.
class step_registrar {
 public:
  using registered = completion<>;

  // `task`: the name of the worker's.
  step_registrar(rpc::network& net, const std::string& task, exchange& values, builders& slow, kept_graphs& graphs,
                 kept_steps& steps)
      : net_(net), name_(task), exchange_(values), builders_(slow), graphs_(graphs), steps_(steps) {}

  // Connects with the peers of a step, then compiles it. `memory` is what the message takes, as estimated. Fails with
  // permission_denied if the session is not the requester's.
  void register_step(const requester& by, distributed::register_step r, std::uint64_t memory, registered done);
  // Registers a step whose nodes are known by their fingerprint; or tells that they are not, and does nothing.
  void register_known(const requester& by, distributed::register_known r, std::uint64_t memory, completion<bool> done);

  // Is the requester the session's master, and a task of the cluster? Another that claims to be this task is not.
  bool is_of(const requester& by, const session_id& session) const;
  // Throws permission_denied unless the session is the requester's.
  void expect_of(const requester& by, const session_id& session) const;

  // Connects with the tasks that a step needs, in the incarnations that were meant.
  void meet_peers(const std::shared_ptr<const kept_step>& step, rpc::duration max_wait, registered done);
  // The line in which the builders work for a session: that of its client, or of its master's connection.
  static std::uint64_t line_of(const requester& by, const session_id& session) {
    return by.is_own_master() ? session.number : by.channel;
  }

 private:
  void keep(const requester& by, const kept_steps::step_ref& step, registered done);
  void build(kept_steps::claim& by, const kept_steps::step_ref& step, const registered& done);
  // Tells whether a connection leads to the task that was meant, in this incarnation.
  static outcome<> met(const rpc::channel& route, const outcome<>& connected, std::uint64_t incarnation);

  rpc::network& net_;
  const std::string& name_;
  exchange& exchange_;
  builders& builders_;
  kept_graphs& graphs_;
  kept_steps& steps_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/step_registrar.ipp>
#endif

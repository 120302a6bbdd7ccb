// The identity of a requester, as a worker knows it.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/run_id.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Who is behind a request: the master of the worker's own task, or a peer over a connection.
struct requester {
  std::uint64_t channel = 0;      // the connection; 0: the master of this task
  std::string name = {};          // name of the peer's task; "": a client that is not a task
  std::uint64_t incarnation = 0;  // incarnation of the peer
  std::uint64_t client = 0;       // of the master of this task: the connection of the client for whom it asks, if any

  bool is_own_master() const { return channel == 0; }
  // Is it the master that the session names? A task is known by name and incarnation, so it may return over another
  // connection.
  bool speaks_for(const session_id& s) const { return name == s.master && incarnation == s.incarnation; }
};

}}}  // namespace pinion::v0::distributed

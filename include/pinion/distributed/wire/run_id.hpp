// The names of sessions and runs among the tasks of a cluster.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/archive.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A session as workers know it: its number, which its master drew at random, and the task and life of that master. The
// name tells who may speak for the session, so no other task can take the name first, or use it. Tables of sessions and
// runs are ordered, since a peer that chooses the parts of a name could choose what a hash makes of them. A value.
struct session_id {
  std::string master;
  std::uint64_t incarnation = 0, number = 0;

  template <class A>
  void serialize(A& a) {
    a(rpc::short_text{master}, incarnation, number);
  }
  auto operator<=>(const session_id&) const = default;
};

// One run of a session. A master counts the runs of each of its sessions. A value.
struct run_id {
  session_id session;
  std::uint64_t count = 0;

  template <class A>
  void serialize(A& a) {
    a(session, count);
  }
  auto operator<=>(const run_id&) const = default;
};

}}}  // namespace pinion::v0::distributed

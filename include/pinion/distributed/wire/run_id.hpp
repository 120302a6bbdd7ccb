// The names of sessions and runs among the tasks of a cluster.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A session as workers know it: its number, which its master drew at random, and the task and life of that master. The
// name tells who may speak for the session, so no other task can take the name first, or use it. A value.
struct session_id {
  std::string master;
  std::uint64_t incarnation = 0, number = 0;

  template <class A>
  void serialize(A& a) {
    a(master, incarnation, number);
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

// Numbers of sessions are random, so they need no further mixing.
struct id_hash {
  std::size_t operator()(const session_id& s) const { return static_cast<std::size_t>(s.number); }
  std::size_t operator()(const run_id& r) const { return static_cast<std::size_t>(r.session.number + r.count); }
};

}}}  // namespace pinion::v0::distributed

// Who asks a worker for something.
#pragma once

#include <cstdint>
#include <string>

namespace pinion::inline v0::distributed {

// The master of the worker's own task, or a peer over a connection.
struct party {
  std::uint64_t channel = 0;      // 0: the own master
  std::string name = {};          // of the peer's task; "" for a client that is no task
  std::uint64_t incarnation = 0;  // of the peer

  bool is_own_master() const { return channel == 0; }
};

// A task may come back by another connection, in the same life. A client that is no task is known by its connection
// only, and nobody who comes over one is the own master.
inline bool are_one(const party& a, const party& b) {
  if (a.channel == b.channel) return true;
  const bool tasks = !a.is_own_master() && !b.is_own_master() && !a.name.empty();
  return tasks && a.name == b.name && a.incarnation == b.incarnation;
}

}  // namespace pinion::inline v0::distributed

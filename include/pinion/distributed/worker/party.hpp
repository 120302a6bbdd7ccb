// Who asks a worker for something.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The master of the worker's own task, or a peer over a connection.
struct party {
  std::uint64_t channel = 0;      // 0: the own master
  std::string name = {};          // of the peer's task; "" for a client that is no task
  std::uint64_t incarnation = 0;  // of the peer

  bool is_own_master() const { return channel == 0; }
};

// A task may come back by another connection, in the same life. A client that is no task is known by its connection
// only, and nobody who comes over one is the own master.
bool are_one(const party& a, const party& b);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/party.ipp>
#endif

// Memory of this process that nobody needs.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/distributed/worker/builders.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Gives memory back to the system: what was not needed lately, and for a while after something was let go that of
// graphs and small values, too, which are freed a while after their client has gone. Owned by a server, and used in the
// network's thread.
class spare_memory {
 public:
  // Notes that graphs were let go, or values.
  void graphs_let_go() { sweeps_ = after_graphs; }
  void values_let_go() { sweeps_ = sweeps_ > 1 ? sweeps_ : 1; }
  // Gives memory back, in a thread of the builders. To be called each ten seconds or so.
  void sweep(builders& in);

 private:
  static constexpr int after_graphs = 4;
  int sweeps_ = 0;  // that look at the memory of graphs
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/spare_memory.ipp>
#endif

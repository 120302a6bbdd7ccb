// Bodies of <pinion/distributed/server/spare_memory.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/heap.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/distributed/server/spare_memory.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

// It takes a while.
inline void give_spare_memory_back(bool graphs_too) {
  graphs_too |= devices::pool_allocator::of_cpus().trim() > (1 << 20);
  if (graphs_too) give_heap_back();  // graphs, and small values, lie in many small pieces
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void spare_memory::sweep(builders& in) {
  in.add(0, [graphs_too = sweeps_ > 0] { detail::give_spare_memory_back(graphs_too); });
  sweeps_ = std::max(sweeps_ - 1, 0);
}

}}}  // namespace pinion::v0::distributed

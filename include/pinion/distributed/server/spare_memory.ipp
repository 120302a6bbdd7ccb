// Bodies of <pinion/distributed/server/spare_memory.hpp>.
#pragma once

#include <pinion/base/heap.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/distributed/server/spare_memory.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void give_spare_memory_back(bool graphs_too) {
  graphs_too |= devices::pool_allocator::of_cpus().trim() > (1 << 20);
  if (graphs_too) give_heap_back();  // graphs, and small values, lie in many small pieces
}

}}}  // namespace pinion::v0::distributed

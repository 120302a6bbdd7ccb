// Memory of this process that nobody needs.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Returns memory to the system that was not needed lately; after graphs were let go, theirs too. It takes a while.
void give_spare_memory_back(bool graphs_too);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/spare_memory.ipp>
#endif

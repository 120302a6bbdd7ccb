// The file descriptors of this process: of files, sockets and memory that other processes show it.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The number of descriptors that the system gives this process; the greatest number where there is no limit.
std::uint64_t most_descriptors();
// The number of those that are open. It takes a microsecond for every few of them. 0 where /proc does not tell.
std::uint64_t open_descriptors();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/descriptors.ipp>
#endif

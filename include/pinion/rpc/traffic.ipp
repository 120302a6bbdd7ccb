// Bodies of <pinion/rpc/traffic.hpp>.
#pragma once

#include <pinion/rpc/traffic.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void traffic::add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.fetch_add(n, std::memory_order_relaxed);
}

}}}  // namespace pinion::v0::rpc

// The description of a simulated accelerator.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace sim {

// pn::sim::gpu() in a session's options makes one; what it does is in sim.hpp.
struct accelerator {
  std::string type = "GPU";
  std::int64_t memory_limit = std::int64_t{1} << 30;  // bytes
  std::int64_t fail_allocation = 0;                   // the n-th allocation fails, once; 0: none does
};
accelerator gpu(std::int64_t memory_limit = std::int64_t{1} << 30);

}}}  // namespace pinion::v0::sim

#if PINION_HEADER_ONLY
#include <pinion/device/accelerator.ipp>
#endif

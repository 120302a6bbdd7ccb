// The description of a simulated accelerator, for tests and for planning without hardware.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace sim {

// An accelerator that a session is to simulate, through its option `.simulated`. It has an address space and a stream
// of its own and the kernel list of a GPU, and computes on the host (sim.hpp). A value.
//
//   pn::session sess{{.simulated = {pn::sim::gpu(), pn::sim::gpu()}}};      // /gpu:0 and /gpu:1
struct accelerator {
  // The type in its device name, /device:TYPE:N.
  std::string type = "GPU";
  // The size of its memory in bytes; an allocation beyond it throws resource_exhausted.
  std::int64_t memory_limit = std::int64_t{1} << 30;
  // The number of the allocation that fails, once; 0: none fails.
  std::int64_t fail_allocation = 0;
};
// A simulated GPU with a memory of so many bytes.
accelerator gpu(std::int64_t memory_limit = std::int64_t{1} << 30);

}}}  // namespace pinion::v0::sim

#if PINION_HEADER_ONLY
#include <pinion/device/accelerator.ipp>
#endif

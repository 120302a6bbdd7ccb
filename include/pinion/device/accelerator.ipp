// Bodies of <pinion/device/accelerator.hpp>.
#pragma once

#include <pinion/device/accelerator.hpp>

namespace pinion { inline namespace v0 { namespace sim {

PINION_DECL accelerator gpu(std::int64_t memory_limit) {
  return {"GPU", memory_limit, 0};
}

}}}  // namespace pinion::v0::sim

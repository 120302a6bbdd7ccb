// Bodies of <pinion/device/accelerator.hpp>.
#pragma once

#include <pinion/device/accelerator.hpp>

namespace pinion::inline v0::sim {

PINION_DECL accelerator gpu(std::int64_t memory_limit) {
  return {"GPU", memory_limit, 0};
}

}  // namespace pinion::inline v0::sim

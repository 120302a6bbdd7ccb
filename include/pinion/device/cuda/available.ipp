// Bodies of <pinion/device/cuda/available.hpp>.
#pragma once

#include <pinion/device/cuda/available.hpp>
#if PINION_HAS_CUDA
#include <pinion/device/cuda/card.hpp>
#endif

namespace pinion { inline namespace v0 {

PINION_DECL bool cuda_available() {
#if PINION_HAS_CUDA
  return !cuda::list_cards().cards.empty();
#else
  return false;
#endif
}

}}  // namespace pinion::v0

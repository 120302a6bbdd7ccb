// Bodies of <pinion/scalar/compiled.hpp>.
#pragma once

#include <pinion/scalar/compiled.hpp>

namespace pinion::inline v0::scalar {

PINION_DECL const compiled_kernel* find_compiled(const program& p) {
  const auto wanted = fingerprint(p);
  for (auto* k = compiled_kernels.load(std::memory_order_acquire); k; k = k->next)
    if (k->fingerprint == wanted && k->computes(p)) return k;
  return nullptr;
}

}  // namespace pinion::inline v0::scalar

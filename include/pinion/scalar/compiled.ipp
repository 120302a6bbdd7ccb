// Bodies of <pinion/scalar/compiled.hpp>.
#pragma once

#include <algorithm>
#include <vector>

#include <pinion/base/process.hpp>
#include <pinion/scalar/compiled.hpp>

#if !PINION_HEADER_ONLY
namespace pinion { inline namespace v0 { namespace scalar { namespace detail {

inline bool is_before(const compiled_kernel* k, std::uint64_t fingerprint) {
  return k->fingerprint < fingerprint;
}

// All kernels of the library, ordered by fingerprint.
inline const std::vector<const compiled_kernel*>& held_by_fingerprint() {
  return table_of_this_process([] {
    std::vector<const compiled_kernel*> found;
    for (const auto& table :
         {held_kernels::of_rules(), held_kernels::of_single_ops(), held_kernels::of_single_ops_in_float(),
          held_kernels::of_single_ops_in_double(), held_kernels::of_fusions_in_float(),
          held_kernels::of_fusions_in_double(), held_kernels::of_second_gradients_in_float(),
          held_kernels::of_second_gradients_in_double()})
      for (const compiled_kernel& k : table) found.push_back(&k);
    std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return is_before(a, b->fingerprint); });
    return found;
  });
}

}}}}  // namespace pinion::v0::scalar::detail
#endif

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL const compiled_kernel* find_compiled(const program& p) {
  const auto wanted = fingerprint(p);
  const auto is_it = [&](const compiled_kernel& k) {
    return k.fingerprint == wanted && same_structure(*k.computes, p);
  };
#if !PINION_HEADER_ONLY
  const auto& held = detail::held_by_fingerprint();
  for (auto k = std::lower_bound(held.begin(), held.end(), wanted, detail::is_before);
       k != held.end() && (*k)->fingerprint == wanted; ++k)
    if (is_it(**k)) return *k;
#endif
  for (auto* k = added_kernels.load(std::memory_order_acquire); k; k = k->next)
    if (is_it(k->kernel)) return &k->kernel;
  return nullptr;
}

}}}  // namespace pinion::v0::scalar

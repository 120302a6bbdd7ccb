// Bodies of <pinion/op/elementwise/cuda_form.hpp>.
#pragma once

#include <algorithm>

#include <pinion/op/elementwise/cuda_form.hpp>
#include <pinion/scalar/operands.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL cuda_form cuda_form_of(const scalar::program& p, const broadcast_walk& walk,
                                   std::span<const void* const> addresses) {
  cuda_form form;
  form.rank = static_cast<int>(walk.extents.size());
  for (const auto& strides : walk.strides) {
    std::uint32_t bits = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) bits |= std::uint32_t{strides[d] != 0} << d;
    form.advances.push_back(bits);
  }
  form.is_wide = walk.outer() * walk.inner() >= std::int64_t{1} << 31;
  const std::vector<std::size_t> sizes = scalar::operand_sizes(p);
  std::size_t width = walk.inner() == 1 ? 1 : 16 / *std::max_element(sizes.begin(), sizes.end());
  const auto is_aligned = [&](std::size_t k) {
    return !walk.advances(k) || reinterpret_cast<std::uintptr_t>(addresses[k]) % (width * sizes[k]) == 0;
  };
  const auto fits = [&] {
    if (form.rank > 1 && walk.inner() % static_cast<std::int64_t>(width) != 0) return false;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (!is_aligned(k)) return false;
    return true;
  };
  while (width > 1 && !fits()) width /= 2;
  form.width = static_cast<int>(width);
  return form;
}

}}}  // namespace pinion::v0::op

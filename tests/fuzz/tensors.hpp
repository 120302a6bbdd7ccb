// Tensors as inputs begin with them, and whether two hold the same bits.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include <pinion/tensor/tensor.hpp>

namespace fuzz {

using namespace pinion;

// A tensor of plain elements: 0, 1, 0, 1 for booleans, and bytes that count up for others.
inline any_tensor counting(dtype type, const shape& extent) {
  any_tensor t(type, extent);
  for (std::size_t i = 0; i < t.bytes(); ++i)
    t.byte_data()[i] = static_cast<std::byte>(type == dtype::boolean ? i % 2 : i);
  return t;
}

// NaNs with the same bits are the same.
inline bool same_bits(const any_tensor& a, const any_tensor& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.dtype() == dtype::string ? a == b : std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace fuzz

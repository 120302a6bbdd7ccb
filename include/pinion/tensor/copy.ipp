// Bodies of <pinion/tensor/copy.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include <pinion/tensor/copy.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void* copy_elements(dtype type, const void* from, std::int64_t count, void* to) {
  if (type == dtype::string)
    return std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  if (bytes > 0) std::memcpy(to, from, bytes);
  return static_cast<std::byte*>(to) + bytes;
}

}}  // namespace pinion::v0

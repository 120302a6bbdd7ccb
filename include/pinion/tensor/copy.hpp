// Copies elements inside host memory, by their dtype.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>

namespace pinion { inline namespace v0 {

// Copies `count` elements and returns the place behind the last copy. Requires: there are elements at both places, and
// the two do not overlap.
void* copy_elements(dtype type, const void* from, std::int64_t count, void* to);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/copy.ipp>
#endif

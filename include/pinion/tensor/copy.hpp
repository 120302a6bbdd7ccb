// Elements from one place of host memory to another, without their type.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>

namespace pinion { inline namespace v0 {

// `count` elements of a dtype. Returns where the next one goes. Requires: elements at both places, which do not
// overlap.
void* copy_elements(dtype type, const void* from, std::int64_t count, void* to);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/copy.ipp>
#endif

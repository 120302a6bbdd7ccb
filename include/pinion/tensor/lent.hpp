// Values in memory that another process has lent: it may change them at any time, and what holds them keeps all of the
// memory that they lie in.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// Does a value lie in memory of another process? (make_lent_buffer)
bool is_lent(const any_tensor& value);
// The value, or a copy of it where it is lent. For what outlives a run, and for what must not change while it is read.
any_tensor kept(any_tensor value, allocator& from = *heap_allocator::instance());

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/lent.ipp>
#endif

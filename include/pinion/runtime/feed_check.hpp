// The check of a value against the end that it is fed to.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Throws invalid_argument, and names the end, if the value has another dtype, or a shape that does not fit.
void expect_fed(const any_expr& to, const any_tensor& value);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/feed_check.ipp>
#endif

// A program that computes the same with fewer instructions.
//
// Derivatives of derivatives state most of their values many times over; without this they double with each order. Only
// what is the same to the bit is replaced (a product's operands may change places, so of two NaNs another may win).
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// Equal values are computed once, factors of 1 and what no result needs are gone. Inputs stay, since they are
// positional; equal literals become one.
program simplified(const program& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/simplify.ipp>
#endif

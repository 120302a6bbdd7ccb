// Makes a program that computes the same results with fewer instructions.
//
// Derivatives of derivatives state most of their values many times, and without this each order would double the
// program. Only instructions whose results are equal bit for bit are replaced, with one exception: the operands of a
// product may change places, so that another one of two NaNs may win.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A copy of the program in which equal values are computed once, and factors of 1 and dead values are gone. Inputs
// stay, since they are positional; equal literals become one.
program simplified(const program& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/simplify.ipp>
#endif

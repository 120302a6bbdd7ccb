// Differentiates a program by some of its inputs, as derivatives of derivatives need it.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The derivative of p by the inputs `wanted`, simplified. Its inputs are those of p, then one adjoint for each result
// that is `given` one. Its results are the adjoints of the wanted inputs in that order; the constant 0 if nothing
// flows. Requires: those of `derive`; wanted inputs are not masks.
program derive_by(const program& p, const std::vector<value_id>& wanted, const std::vector<bool>& given);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/derive_by.ipp>
#endif

// The derivative of a program by some of its inputs: what derivatives of derivatives are made of.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// Inputs: those of p, then one adjoint for each result that is `given` one. Results: the adjoints of the inputs
// `wanted`, in that order; the constant 0 where nothing flows. Simplified. Requires: as `derive`; wanted inputs are no
// masks.
program derive_by(const program& p, const std::vector<value_id>& wanted, const std::vector<bool>& given);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/derive_by.ipp>
#endif

// The operands of scalar programs in memory.
#pragma once

#include <cstddef>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The dtype of the numbers that a program computes with. Programs of masks alone compute in bytes.
dtype number_type(const program& p);

// The dtypes of a program's inputs: that of its numbers, or bool for a mask.
std::vector<dtype> input_types(const program& p);

// The bytes of an element of each operand: the inputs, then the results.
std::vector<std::size_t> operand_sizes(const program& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/operands.ipp>
#endif

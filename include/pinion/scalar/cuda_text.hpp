// Scalar programs as text in CUDA C. The text is C++ for the host too, where CUDA's words are defined before it.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The beginning of every unit: the numbers that programs compute with (lane.hpp), and the functions that other texts
// call, in namespace pinion.
std::string_view cuda_prelude();

// The type of an element in memory, such as "float". Masks and bools are "bool".
std::string_view cuda_type(dtype type);

// The type of the numbers that a program computes with. Programs of masks alone compute in bytes.
std::string_view cuda_arithmetic(const program& p);

// The function that computes one element of a program:
//
//   PINION_DEVICE void element(const float x0, const bool x1, const float* literal, float& y0) { ... }
//
// Real functions are CUDA's own; of these, only erfc of a double has a stated error above 4 ulp, namely 5. The values
// of literals are no part of the text. Requires: `p` is executable.
std::string cuda_element(const program& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/cuda_text.ipp>
#endif

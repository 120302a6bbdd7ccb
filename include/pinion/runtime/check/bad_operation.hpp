// The operation of an elementwise node in which a bad element comes to be, since a statement is one node.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// An element of a result of a program: the number of the result, its shape, and the number of the element.
struct bad_element {
  std::size_t result = 0;
  shape in = {};
  std::int64_t at = 0;
};

// "exp(100) is inf": the first operation on the way to the element which makes a NaN, or an infinity of finite values.
// It computes the program anew for that element. "" for a program of one operation, and where the inputs do not
// broadcast to the result.
std::string bad_operation(const scalar::program& p, std::span<const any_tensor> inputs, const bad_element& where);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/check/bad_operation.ipp>
#endif

// Bodies of <pinion/scalar/operands.hpp>.
#pragma once

#include <pinion/scalar/operands.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL dtype number_type(const program& p) {
  return p.arithmetic == dtype::boolean ? dtype::uint8 : p.arithmetic;
}

PINION_DECL std::vector<dtype> input_types(const program& p) {
  std::vector<dtype> types(p.inputs, number_type(p));
  for (const instruction& in : p.code)
    if (in.op == opcode::input_mask) types[in.a] = dtype::boolean;
  return types;
}

PINION_DECL std::vector<std::size_t> operand_sizes(const program& p) {
  std::vector<std::size_t> sizes;
  for (const dtype type : input_types(p)) sizes.push_back(size_of(type));
  for (const result& r : p.results) sizes.push_back(size_of(r.type));
  return sizes;
}

}}}  // namespace pinion::v0::scalar

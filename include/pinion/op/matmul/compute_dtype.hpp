// Attribute "compute" of products of floats: the dtype to which their operands are rounded.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A product of floats with attribute "compute", which is bfloat16 or half, is the product of its operands as rounded to
// that dtype, added up in float. Without it, or with float32, operands are taken as they are. The nodes of its gradient
// have the attribute too. Kernels of processors honour it; those of GPUs compute in float.
inline constexpr attribute_list compute_attribute{attr::dtype("compute").optional()};

// The dtype to which a node rounds operands; float32 where it rounds none.
inline dtype compute_of(const attributes& attrs) {
  return attrs.get_or("compute", dtype::float32);
}
// The attributes of another product that rounds operands as the node with the attributes `of` does.
attributes with_compute_of(const attributes& of, attributes others);

// Fails unless a product of input `first` may have its attribute "compute".
void expect_compute(const shape_context& c, int first = 0);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/matmul/compute_dtype.ipp>
#endif

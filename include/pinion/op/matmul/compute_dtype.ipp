// Bodies of <pinion/op/matmul/compute_dtype.hpp>.
#pragma once

#include <string>
#include <utility>

#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL attributes with_compute_of(const attributes& of, attributes others) {
  if (const attribute* const compute = of.find("compute")) others.set("compute", *compute);
  return others;
}

PINION_DECL void expect_compute(const shape_context& c, int first) {
  const dtype compute = compute_of(c.attrs());
  if (compute == dtype::float32) return;
  if (compute != dtype::bfloat16 && compute != dtype::half)
    c.fail(c.op() + " with operands rounded to " + std::string(to_string(compute)) +
           "; attribute \"compute\" is bfloat16, half or float");
  if (c.dtype(first) != dtype::float32)
    c.fail(c.op() + " of " + std::string(to_string(c.dtype(first))) + " with operands rounded to " +
           std::string(to_string(compute)) + "; only a product of float has attribute \"compute\"");
}

}}}  // namespace pinion::v0::op

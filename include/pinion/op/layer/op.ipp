// Bodies of <pinion/op/layer/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/layer/op.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL double product_in_layer::work(const work_context& c) {
  return matmul::work(c) + 2 * c.count(c.output(0).shape);
}

PINION_DECL void biased_matmul::infer(shape_context& c) {
  if (c.dtype(0) != c.dtype(1) || c.dtype(0) != c.dtype(2))
    c.fail("a product of " + std::string(to_string(c.dtype(0))) + " and " + std::string(to_string(c.dtype(1))) +
           " with a bias of " + std::string(to_string(c.dtype(2))));
  c.expect_rank(2, 1, "the bias of a product");
  const shape product = matmul::shape_of_product(c, 0);
  const auto biases = c.shape(2).has_rank() ? c.shape(2)[0] : unknown;
  if (biases >= 0 && product[1] >= 0 && biases != product[1])
    c.fail("a bias of " + std::to_string(biases) + " elements for a product of shape " + to_string(product));
  c.output(c.dtype(0), product);
  if (c.attrs().get_or("mask", false)) c.output(dtype::uint8, shape::unknown_of_rank(2));
}

PINION_DECL void matmul_relu_gradient::infer(shape_context& c) {
  if (c.dtype(0) != c.dtype(1) || c.dtype(0) != c.dtype(2))
    c.fail("a product of " + std::string(to_string(c.dtype(0))) + " and " + std::string(to_string(c.dtype(1))) +
           " beside a relu of " + std::string(to_string(c.dtype(2))));
  if (c.inputs() > 3 && c.dtype(3) != dtype::uint8)
    c.fail("the mask of a relu is " + std::string(to_string(c.dtype(3))) + ", not uint8");
  const shape product = matmul::shape_of_product(c, 0);
  if (!fits(c.shape(2), product))
    c.fail("a product of shape " + to_string(product) + " beside a relu of shape " + to_string(c.shape(2)));
  c.output(c.dtype(0), product);
  c.output(c.dtype(0), {product[1]});
}

PINION_DECL void matmul_bias_gradient::infer(shape_context& c) {
  matmul::infer(c);
  const shape product = matmul::shape_of_product(c, 0);
  c.output(c.dtype(0), {product[c.attrs().get_or("sums_left", false) ? 0 : 1]});
}

}}}  // namespace pinion::v0::op

// Bodies of <pinion/op/matmul/op.hpp>.
#pragma once

#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL attributes matmul::attributes_of_product(const attributes& of) {
  return with_compute_of(
      of, {{"transpose_a", of.get_or("transpose_a", false)}, {"transpose_b", of.get_or("transpose_b", false)}});
}

PINION_DECL shape matmul::shape_of_product(const shape_context& c, int first) {
  expect_compute(c, first);
  c.expect_rank(first, 2, "the left operand of matmul");
  c.expect_rank(first + 1, 2, "the right operand of matmul");
  const bool ta = c.attrs().get_or("transpose_a", false), tb = c.attrs().get_or("transpose_b", false);
  const auto matrix = [&](int i) { return c.shape(i).has_rank() ? c.shape(i) : shape::unknown_of_rank(2); };
  const shape a = matrix(first), b = matrix(first + 1);
  const auto inner_a = a[ta ? 0 : 1], inner_b = b[tb ? 1 : 0];
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
    c.fail("matmul of shapes " + to_string(a) + (ta ? " (transposed)" : "") + " and " + to_string(b) +
           (tb ? " (transposed)" : "") + ": the inner dimensions " + std::to_string(inner_a) + " and " +
           std::to_string(inner_b) + " differ");
  return {a[ta ? 1 : 0], b[tb ? 0 : 1]};
}

PINION_DECL void matmul::infer(shape_context& c) {
  c.expect_one_dtype();
  c.output(c.dtype(0), shape_of_product(c, 0));
}

PINION_DECL double matmul::work(const work_context& c) {
  return 2 * c.count(c.output(0).shape) * c.extent(c.input(0).shape, c.attrs().get_or("transpose_a", false) ? 0 : 1);
}

PINION_DECL void matmul::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const bool ta = g.attrs().get_or("transpose_a", false), tb = g.attrs().get_or("transpose_b", false);
  const output a = g.input(0), b = g.input(1), dc = g.output_gradient(0);
  const auto product = [&](output x, bool tx, output y, bool ty) {
    return g.make(name, {x, y}, with_compute_of(g.attrs(), {{"transpose_a", tx}, {"transpose_b", ty}}));
  };
  g.set(0, ta ? product(b, tb, dc, true) : product(dc, false, b, !tb));
  g.set(1, tb ? product(dc, true, a, ta) : product(a, !ta, dc, false));
}

}}}  // namespace pinion::v0::op

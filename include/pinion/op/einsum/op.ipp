// Bodies of <pinion/op/einsum/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/einsum/equation.hpp>
#include <pinion/op/einsum/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace einsum {

// Checks that operands have one dtype that has kernels, and that the equation is of so many operands.
inline void check_operands(const shape_context& c, const einsum_equation& equation, int operands) {
  expect_compute(c);
  if (static_cast<int>(equation.operands.size()) != operands)
    c.fail("the equation \"" + equation.text() + "\" is of " + std::to_string(equation.operands.size()) +
           " operands, and there are " + std::to_string(operands));
  c.expect_dtype(c.dtype(0), contracting::kernels.cpu);
  c.expect_one_dtype();
}

inline std::vector<shape> shapes_of(const shape_context& c, int operands) {
  std::vector<shape> all;
  for (int i = 0; i < operands; ++i) all.push_back(c.shape(i));
  return all;
}

// The operations for all places of some labels: a multiplication and an addition for each.
inline double operations(const work_context& c, const einsum_equation& equation, int inputs) {
  std::map<int, double> extents;
  for (int i = 0; i < inputs; ++i) {
    const shape& of = c.input(i).shape;
    if (!of.has_rank()) return 2 * c.count(of);
    const auto labels =
        labels_of(i < static_cast<int>(equation.operands.size()) ? equation.operands[static_cast<std::size_t>(i)]
                                                                 : equation.result,
                  of.rank());
    for (int axis = 0; axis < of.rank(); ++axis) {
      double& extent = extents[labels[static_cast<std::size_t>(axis)]];
      extent = std::max(extent, c.extent(of, axis));
    }
  }
  double product = 2;
  for (const auto& [label, extent] : extents) product *= extent;
  return product;
}

// Sets the gradient of operand i of an equation: the other operands, with dz in its place, and its own axes as a
// result.
inline void set_gradient(gradient_context& g, const einsum_equation& of, int i) {
  einsum_equation back{{of.result}, of.operands[static_cast<std::size_t>(i)]};
  std::vector<output> inputs{g.output_gradient(0)};
  for (int k = 0; k < static_cast<int>(of.operands.size()); ++k)
    if (k != i) {
      back.operands.push_back(of.operands[static_cast<std::size_t>(k)]);
      inputs.push_back(g.input(k));
    }
  inputs.push_back(g.input(i));
  g.set(i, g.make(einsum_like::name, std::move(inputs), with_compute_of(g.attrs(), {{"equation", back.text()}})));
}

inline void set_gradients(gradient_context& g, const einsum_equation& of) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  for (int i = 0; i < static_cast<int>(of.operands.size()); ++i)
    if (g.wants(i)) set_gradient(g, of, i);
}

// Whether no leading axis of a product broadcasts, as far as is known for sure.
inline bool have_same_leading_axes(const shape& x, const shape& y) {
  if (!x.has_rank() || x.rank() != y.rank()) return false;
  for (int axis = 0; axis < x.rank() - 2; ++axis)
    if (x[axis] < 0 || x[axis] != y[axis]) return false;
  return true;
}

}}}}}  // namespace pinion::v0::op::detail::einsum

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void batch_matmul::infer(shape_context& c) {
  const auto of = detail::equation_of_product(c.attrs());
  detail::einsum::check_operands(c, of, 2);
  for (int i = 0; i < 2; ++i)
    if (c.shape(i).has_rank() && c.shape(i).rank() < 2)
      c.fail("an operand of shape " + to_string(c.shape(i)) +
             " of a matrix product, which has rank 2 or more; pn::expand_dims makes a matrix of a vector");
  try {
    c.output(c.dtype(0), detail::shape_of_einsum(of, {c.shape(0), c.shape(1)}));
  } catch (const error& e) {
    c.fail("matmul of shapes " + to_string(c.shape(0)) + " and " + to_string(c.shape(1)) + ": " + e.what());
  }
}

PINION_DECL double batch_matmul::work(const work_context& c) {
  return detail::einsum::operations(c, detail::equation_of_product(c.attrs()), 2);
}

PINION_DECL void batch_matmul::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const output x = g.input(0), y = g.input(1);
  if (!detail::einsum::have_same_leading_axes(g.type_of(x).shape, g.type_of(y).shape))
    return detail::einsum::set_gradients(g, detail::equation_of_product(g.attrs()));
  const bool tx = g.attrs().get_or("adj_x", false), ty = g.attrs().get_or("adj_y", false);
  const output dz = g.output_gradient(0);
  const auto product = [&](output a, bool ta, output b, bool tb) {
    return g.make(name, {a, b}, with_compute_of(g.attrs(), {{"adj_x", ta}, {"adj_y", tb}}));
  };
  if (g.wants(0)) g.set(0, tx ? product(y, ty, dz, true) : product(dz, false, y, !ty));
  if (g.wants(1)) g.set(1, ty ? product(dz, true, x, tx) : product(x, !tx, dz, false));
}

PINION_DECL void einsum::infer(shape_context& c) {
  const auto of = detail::equation_of_einsum(c.attrs());
  detail::einsum::check_operands(c, of, c.inputs());
  for (std::size_t i = 0; i < of.result.size(); ++i)
    if (of.result.find(of.result[i], i + 1) != std::string::npos)
      c.fail("the result of \"" + of.text() + "\" has an axis twice; an operand may have that");
  for (const char label : of.result) {
    bool found = label == '.';
    for (const std::string& term : of.operands) found = found || term.find(label) != term.npos;
    if (!found) c.fail("the result of \"" + of.text() + "\" has an axis that no operand has");
  }
  c.output(c.dtype(0), detail::shape_of_einsum(of, detail::einsum::shapes_of(c, c.inputs())));
}

PINION_DECL double einsum::work(const work_context& c) {
  return detail::einsum::operations(c, detail::equation_of_einsum(c.attrs()), c.inputs());
}

PINION_DECL void einsum::gradient(gradient_context& g) {
  detail::einsum::set_gradients(g, detail::equation_of_einsum(g.attrs()));
}

PINION_DECL void einsum_like::infer(shape_context& c) {
  const int like = c.inputs() - 1;
  const auto of = detail::equation_of_einsum(c.attrs());
  detail::einsum::check_operands(c, of, like);
  detail::label_extents extents;
  for (int i = 0; i < like; ++i) extents.add(of.operands[static_cast<std::size_t>(i)], c.shape(i));
  extents.add(of.result, c.shape(like));
  c.output(c.dtype(0), c.shape(like));
}

PINION_DECL double einsum_like::work(const work_context& c) {
  return detail::einsum::operations(c, detail::equation_of_einsum(c.attrs()), c.inputs());
}

PINION_DECL void einsum_like::gradient(gradient_context& g) {
  detail::einsum::set_gradients(g, detail::equation_of_einsum(g.attrs()));
}

}}}  // namespace pinion::v0::op

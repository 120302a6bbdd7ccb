// Bodies of <pinion/op/variable/op.hpp>.
#pragma once

#include <memory>

#include <pinion/op/elementwise/program_size.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void variable::infer(shape_context& c) {
  c.output(c.attrs().get<dtype>("dtype"), c.attrs().get<shape>("shape"), true);
}

}}}  // namespace pinion::v0::op

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void infer_assignment(shape_context& c) {
  if (!c.type(0).reference) c.fail(c.op() + " writes a variable; its first input is a value");
  if (c.dtype(0) != c.dtype(1))
    c.fail("a " + std::string(to_string(c.dtype(1))) + " value cannot be assigned to a " +
           std::string(to_string(c.dtype(0))) + " variable");
  if (!fits(c.shape(1), c.shape(0)))
    c.fail("a value of shape " + to_string(c.shape(1)) + " cannot be assigned to a variable of shape " +
           to_string(c.shape(0)));
  c.output(c.dtype(0), c.shape(0).known() ? c.shape(0) : c.shape(1));
}

PINION_DECL const scalar::program& update_program(const attributes& attrs) {
  return *attrs.get<std::shared_ptr<const scalar::program>>("program");
}

inline int inputs_of(gradient_is form) {
  return form == gradient_is::dense ? 1 : 2;
}

inline void expect_update_program(const shape_context& c, int states, gradient_is form) {
  const auto& program = update_program(c.attrs());
  check_program_size(c, program);
  const int values = inputs_of(form);
  if (states < 1 || c.inputs() < states + values)
    c.fail(c.op() + " of " + std::to_string(states) + " states takes them" +
           (form == gradient_is::dense    ? " and a gradient"
            : form == gradient_is::sparse ? ", indices and rows"
                                          : " and two factors"));
  if (program.inputs != c.inputs() - values + 1 || static_cast<int>(program.results.size()) != states ||
      program.arithmetic != c.dtype(0))
    c.fail("the program of " + c.op() + " is not one of its states, a gradient and " +
           std::to_string(c.inputs() - states - values) + " scalars");
  for (const auto& r : program.results)
    if (r.type != program.arithmetic)
      c.fail("the program of " + c.op() + " yields " + std::string(to_string(r.type)) + ", but its states are " +
             std::string(to_string(program.arithmetic)));
  for (const auto& in : program.code)
    if (in.op == scalar::opcode::input_mask) c.fail("the program of " + c.op() + " takes a bool, and is given none");
}

inline void expect_update_indices(const shape_context& c, int i) {
  if (c.dtype(i) != dtype::int32 && c.dtype(i) != dtype::int64)
    c.fail("input " + std::to_string(i) + " of " + c.op() + " is " + std::string(to_string(c.dtype(i))) +
           "; indices are int32 or int64");
}

// Checks the dtype of a state, of a value or of a scalar; its shape, unless it has one of its own; and that of a
// scalar.
inline void expect_update_values(const shape_context& c, int i, bool is_rate, bool has_own_shape) {
  const auto fail = [&](const std::string& found, const std::string& wanted) {
    c.fail("input " + std::to_string(i) + " of " + c.op() + found + ", but " + wanted);
  };
  if (c.dtype(i) != c.dtype(0))
    fail(" is " + std::string(to_string(c.dtype(i))), "the variable is " + std::string(to_string(c.dtype(0))));
  if (is_rate && !fits(c.shape(i), {})) fail(" has shape " + to_string(c.shape(i)), "a rate is a scalar");
  if (!is_rate && !has_own_shape && !fits(c.shape(i), c.shape(0)))
    fail(" has shape " + to_string(c.shape(i)), "the variable has shape " + to_string(c.shape(0)));
}

PINION_DECL int expect_update(const shape_context& c, gradient_is form) {
  const auto states = static_cast<int>(c.attrs().get<std::int64_t>("states"));
  expect_update_program(c, states, form);
  const int values = inputs_of(form);
  for (int i = 0; i < c.inputs(); ++i) {
    if (form == gradient_is::sparse && i == states)
      expect_update_indices(c, i);
    else
      expect_update_values(c, i, i >= states + values, values == 2 && i >= states);
  }
  return states;
}

PINION_DECL double update_work(const work_context& c, gradient_is form) {
  const int rows = static_cast<int>(c.attrs().get<std::int64_t>("states")) + 1;
  return c.count(c.input(form == gradient_is::sparse ? rows : 0).shape) *
         static_cast<double>(update_program(c.attrs()).code.size());
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void apply_product::infer(shape_context& c) {
  const int first = detail::expect_update(c, detail::gradient_is::product);
  const shape product = matmul::shape_of_product(c, first);
  if (!fits(product, c.shape(0)))
    c.fail("a product of shape " + to_string(product) + " does not update a variable of shape " +
           to_string(c.shape(0)));
}

PINION_DECL double apply_product::work(const work_context& c) {
  const int first = static_cast<int>(c.attrs().get<std::int64_t>("states"));
  return 2 * c.count(c.input(0).shape) *
             c.extent(c.input(first).shape, c.attrs().get_or("transpose_a", false) ? 0 : 1) +
         detail::update_work(c, detail::gradient_is::product);
}

}}}  // namespace pinion::v0::op

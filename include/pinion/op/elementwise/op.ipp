// Bodies of <pinion/op/elementwise/op.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/convert/op.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/elementwise/program_size.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/work_context.hpp>
#include <pinion/scalar/cut.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/derive_by.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL const scalar::program& program_of(const attributes& attrs) {
  return *attrs.get<shared_program>("program");
}

PINION_DECL std::string fused_operations(const node& n) {
  const auto* const found = n.attrs.find("program");
  const auto* const program = found ? found->get_if<shared_program>() : nullptr;
  if (!program) return "";
  const scalar::program runs = scalar::executable(**program);
  if (scalar::operation_count(runs) < 2) return "";
  std::string all;
  for (const auto& i : runs.code)
    if (const auto& f = scalar::facts(i.op); f.operands > 0) all.append(all.empty() ? "" : ", ").append(f.name);
  return all;
}

PINION_DECL output cast_to(graph& g, output value, dtype type, source_location where) {
  const dtype from = g.type_of(value).dtype;
  if (from == type) return value;
  if (dtypes::stored.has(from) || dtypes::stored.has(type))
    return {build(g, {.op = convert::name,
                      .base_name = std::string(convert::name),
                      .inputs = {value},
                      .attrs = {{"dtype", type}},
                      .where = where}),
            0};
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = from;
  p->results.push_back({p->emit_input(false), type});
  return {build(g, {.op = cast::name,
                    .base_name = std::string(cast::base_name),
                    .inputs = {value},
                    .attrs = {{"program", shared_program(std::move(p))}},
                    .where = where}),
          0};
}

}}}  // namespace pinion::v0::op

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL shape space_of_inputs(const work_context& c) {
  shape space{}, wider;
  for (int i = 0; i < c.inputs(); ++i)
    if (broadcast(space, c.input(i).shape, wider)) space = wider;
  return space;
}

PINION_DECL double program_work(const work_context& c) {
  return c.count(space_of_inputs(c)) * static_cast<double>(program_of(c.attrs()).code.size());
}

PINION_DECL shape broadcast_of_inputs(const shape_context& c, int first, int last) {
  shape all{};
  for (int i = first; i < last; ++i) {
    shape wider;
    if (!broadcast(all, c.shape(i), wider))
      c.fail("shapes " + to_string(all) + " and " + to_string(c.shape(i)) +
             " do not broadcast: aligned at the last axis, extents must agree or one of them be 1");
    all = wider;
  }
  return all;
}

PINION_DECL void check_program_inputs(const shape_context& c, const scalar::program& p) {
  check_program_size(c, p);
  for (const auto& in : p.code)
    if (scalar::is_real_function(in.op) && !is_floating(p.arithmetic))
      c.fail(c.op() + " is computed in float or double, not " + std::string(to_string(p.arithmetic)) +
             "; pn::cast converts");
  for (const auto& in : p.code) {
    if (in.op != scalar::opcode::input && in.op != scalar::opcode::input_mask) continue;
    const dtype wanted = in.op == scalar::opcode::input_mask ? dtype::boolean : p.arithmetic;
    if (c.dtype(in.a) != wanted)
      c.fail("input " + std::to_string(in.a) + " of " + c.op() + " is " + std::string(to_string(c.dtype(in.a))) +
             ", but " + std::string(to_string(wanted)) + " is wanted; pn::cast converts");
  }
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

inline bool keeps_type(const scalar::program& p) {
  return std::all_of(p.results.begin(), p.results.end(), [&](const auto& r) { return r.type == p.arithmetic; });
}

}  // namespace detail

PINION_DECL void map_gradient::infer(shape_context& c) {
  const auto& p = program_of(c.attrs());
  detail::check_program_inputs(c, p);
  detail::broadcast_of_inputs(c, 0, c.inputs());
  if (static_cast<int>(p.results.size()) > c.inputs() || !detail::keeps_type(p))
    c.fail("its program yields no gradients of its inputs");
  for (std::size_t k = 0; k < p.results.size(); ++k) c.output(p.arithmetic, c.shape(static_cast<int>(k)));
}

PINION_DECL double map_gradient::work(const work_context& c) {
  return detail::program_work(c);
}

PINION_DECL void any_map::infer(shape_context& c) {
  const auto& p = program_of(c.attrs());
  detail::check_program_inputs(c, p);
  map_parts::of(c.attrs(), static_cast<std::size_t>(c.inputs()));
  if (p.results.size() != 1) c.fail("its program has " + std::to_string(p.results.size()) + " results");
  c.output(p.results[0].type, detail::broadcast_of_inputs(c, 0, c.inputs()));
}

PINION_DECL double any_map::work(const work_context& c) {
  return detail::program_work(c);
}

}}}  // namespace pinion::v0::op

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// True for a derivative that is the constant 0: no gradient passes through a step function, fused or not.
inline bool is_zero(const scalar::program& p, std::size_t result) {
  const auto& in = p.code[p.results[result].value];
  return in.op == scalar::opcode::constant && p.constants[in.a].real == 0;
}

// True if no instruction reads an input of the program, a number.
inline bool ignores(const scalar::program& p, int input) {
  std::vector<bool> is_it(p.code.size());
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const auto& in = p.code[i];
    is_it[i] = in.op == scalar::opcode::input && in.a == input;
    for (int k = 0; k < scalar::facts(in.op).operands; ++k)
      if (is_it[in.operand(k)]) return false;
  }
  return std::none_of(p.results.begin(), p.results.end(), [&](const auto& r) { return is_it[r.value]; });
}

// True if a number among the node's inputs has the shape of its output in every run: the others are broadcast to it.
inline bool has_shape_of_output(gradient_context& g, int input) {
  const auto& node = g.node();
  const shape& own = g.type_of(g.input(input)).shape;
  if (!own.has_rank() || !(own == node.outputs[0].shape)) return false;
  for (const output& other : node.inputs) {
    const shape& s = g.type_of(other).shape;
    if (!s.has_rank() || s.rank() > own.rank()) return false;
    for (int axis = 1; axis <= s.rank(); ++axis) {
      const std::int64_t extent = own[own.rank() - axis];
      if ((extent == unknown || extent == 1) && s[s.rank() - axis] != 1 && !(other == g.input(input))) return false;
    }
  }
  return true;
}

// Makes one MapGrad node for all inputs, since the derivative of a program is a program. The DSL has put its kernel
// into this binary. Returns false where the program is too large for one node.
//
// An input whose elements do not matter tells only the shape of its gradient. The node takes the adjoint for it where
// that has the same shape, so that the memory of the input is free sooner.
inline bool differentiate_at_once(gradient_context& g, const scalar::program& p, output adjoint, bool by_output) {
  auto derived = std::make_shared<scalar::program>(by_output ? scalar::derive_for_node(p) : scalar::derive(p));
  if (!scalar::within(*derived)) return false;
  std::vector<output> inputs = g.node().inputs;
  const auto is_number = [&](int k) { return g.type_of(g.input(k)).dtype == p.arithmetic; };
  for (int k = 0; k < p.inputs && g.type_of(adjoint).shape == g.node().outputs[0].shape; ++k)
    if (is_number(k) && ignores(*derived, k) && has_shape_of_output(g, k))
      inputs[static_cast<std::size_t>(k)] = adjoint;
  if (derived->inputs == p.inputs + 2) inputs.push_back(g.output(0));
  inputs.push_back(adjoint);
  const output all = g.make(map_gradient::name, std::move(inputs), {{"program", shared_program(derived)}});
  for (int k = 0; k < p.inputs; ++k)
    if (is_floating(g.type_of(g.input(k)).dtype) && !is_zero(*derived, static_cast<std::size_t>(k)))
      g.set(k, {all.node, k});
  return true;
}

// Makes one MapGrad node for all inputs of a short MapGrad node: the library holds the kernel of such a program where
// the first one is the gradient of a single op. Returns false for a longer program, which grows less where it is
// differentiated by those inputs alone that matter.
inline bool differentiate_again(gradient_context& g, const scalar::program& p,
                                const std::vector<std::optional<output>>& adjoints) {
  constexpr int most_inputs = 4;
  if (p.code.size() > most_differentiated_again || p.inputs > most_inputs) return false;
  std::vector<output> inputs = g.node().inputs;
  std::uint32_t given = 0;
  for (std::size_t r = 0; r < adjoints.size(); ++r)
    if (adjoints[r]) {
      given |= std::uint32_t{1} << r;
      inputs.push_back(*adjoints[r]);
    }
  const auto derived = std::make_shared<const scalar::program>(scalar::derive(p, given));
  const output all = g.make(map_gradient::name, std::move(inputs), {{"program", shared_program(derived)}});
  for (int k = 0; k < p.inputs; ++k)
    if (is_floating(g.type_of(g.input(k)).dtype) && !is_zero(*derived, static_cast<std::size_t>(k)))
      g.set(k, {all.node, k});
  return true;
}

// Differentiates by those inputs alone whose gradients are wanted, in as many nodes as it takes. A node that leaves out
// inputs still has the full shape: each term has a factor of that shape, the adjoint of a result or the input whose
// gradient it is.
inline void differentiate_in_parts(gradient_context& g, const scalar::program& p,
                                   const std::vector<std::optional<output>>& adjoints) {
  std::vector<output> inputs = g.node().inputs;
  std::vector<scalar::value_id> wanted;
  for (int k = 0; k < p.inputs; ++k)
    if (g.wants(k) && is_floating(g.type_of(g.input(k)).dtype)) wanted.push_back(static_cast<scalar::value_id>(k));
  std::vector<bool> given;
  for (const auto& a : adjoints) {
    given.push_back(a.has_value());
    if (a) inputs.push_back(*a);
  }
  if (wanted.empty()) return;
  const scalar::program derived = scalar::derive_by(p, wanted, given);
  std::vector<output> made;
  for (scalar::piece& part : scalar::cut(derived, wanted)) {
    std::vector<output> from;
    for (const auto& s : part.inputs) from.push_back((s.of_piece ? made : inputs)[static_cast<std::size_t>(s.index)]);
    const auto op = part.results.empty() ? custom_map::name : map_gradient::name;
    made.push_back(g.make(op, std::move(from),
                          {{"program", shared_program(std::make_shared<scalar::program>(std::move(part.code)))}}));
    for (std::size_t k = 0; k < part.results.size(); ++k)
      if (const auto r = static_cast<std::size_t>(part.results[k]); !is_zero(derived, r))
        g.set(wanted[r], {made.back().node, static_cast<int>(k)});
  }
}

PINION_DECL void differentiate_program(gradient_context& g, const scalar::program& p,
                                       const std::vector<std::optional<output>>& adjoints) {
  if (!is_floating(p.arithmetic)) return;
  const bool first_order = g.node().op != map_gradient::name;
  const bool by_output = g.type_of(g.output(0)).dtype == p.arithmetic;  // not where the node casts it
  const bool done =
      first_order ? differentiate_at_once(g, p, *adjoints[0], by_output) : differentiate_again(g, p, adjoints);
  if (!done) differentiate_in_parts(g, p, adjoints);
}

PINION_DECL output cast_back(gradient_context& g, dtype from, dtype to) {
  auto back = std::make_shared<scalar::program>();
  back->arithmetic = from;
  back->results.push_back({back->emit_input(false), to});
  return g.make(cast::name, {g.output_gradient(0)}, {{"program", shared_program(back)}});
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void any_map::gradient(gradient_context& g) {
  scalar::program p = program_of(g.attrs());
  const dtype result = std::exchange(p.results[0].type, p.arithmetic);
  if (result == p.arithmetic) return detail::differentiate_program(g, p, {g.output_gradient(0)});
  if (!is_floating(result) || !is_floating(p.arithmetic)) return;  // a step function has no gradient
  const output adjoint = detail::cast_back(g, result, p.arithmetic);
  if (p.code.size() == 1) return g.set(0, adjoint);  // a cast alone
  detail::differentiate_program(g, p, {adjoint});
}

PINION_DECL void map_gradient::gradient(gradient_context& g) {
  const auto& p = program_of(g.attrs());
  std::vector<std::optional<output>> adjoints(p.results.size());
  for (int k = 0; k < static_cast<int>(adjoints.size()); ++k)
    if (g.has_output_gradient(k)) adjoints[static_cast<std::size_t>(k)] = g.output_gradient(k);
  detail::differentiate_program(g, p, adjoints);
}

PINION_DECL void select_text::infer(shape_context& c) {
  for (int i = 0; i < 3; ++i)
    if (const dtype wanted = i == 0 ? dtype::boolean : dtype::string; c.dtype(i) != wanted)
      c.fail("input " + std::to_string(i) + " of SelectText is " + std::string(to_string(c.dtype(i))) + ", but " +
             std::string(to_string(wanted)) + " is wanted");
  c.output(dtype::string, detail::broadcast_of_inputs(c, 0, 3));
}

}}}  // namespace pinion::v0::op

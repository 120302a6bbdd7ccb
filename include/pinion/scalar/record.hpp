// Records functors as programs, and composes a functor with the programs of its operands.
#pragma once

#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// True if a functor takes bools. Of a functor with three operands, only the first is one.
template <class Functor>
inline constexpr bool of_masks = requires {
  Functor::of_masks;
};

// The program of one functor over leaves; `result` is the dtype of its value.
template <class Program, class Functor>
constexpr Program record(dtype arithmetic, dtype result) {
  Program p;
  p.arithmetic = arithmetic;
  std::array<value_id, 3> in{};
  for (std::size_t i = 0; i < Functor::arity; ++i)
    in[i] = p.emit_input(of_masks<Functor> || (Functor::arity == 3 && i == 0));
  using leaf = std::conditional_t<of_masks<Functor>, symbol_mask<Program>, symbol<Program>>;
  const auto y = [&] {
    if constexpr (Functor::arity == 1)
      return Functor::apply(leaf{&p, in[0]});
    else if constexpr (Functor::arity == 2)
      return Functor::apply(leaf{&p, in[0]}, leaf{&p, in[1]});
    else
      return Functor::apply(symbol_mask<Program>{&p, in[0]}, leaf{&p, in[1]}, leaf{&p, in[2]});
  }();
  p.results.push_back({y.id, result});
  return p;
}

// An operand of a functor: a leaf (the output of a node), a literal, or the program of a temporary that is absorbed.
template <class Program>
struct operand {
  enum kind_t { leaf, leaf_mask, number_literal, absorbed } kind = leaf;
  number value{};                    // the value of a literal
  const Program* program = nullptr;  // the program of an absorbed operand
};

// The program of `outer` with the programs of its operands in their places. Inputs are numbered from left to right.
template <class Program>
constexpr Program compose(const Program& outer, const operand<Program>* operands, std::size_t n) {
  Program whole;
  whole.arithmetic = outer.arithmetic;
  auto at = table_beside<value_id>(outer, n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& o = operands[i];
    if (o.kind == operand<Program>::number_literal) {
      at[i] = whole.emit_literal(o.value);
    } else if (o.kind == operand<Program>::absorbed) {
      auto inner = table_beside<value_id>(*o.program, std::size_t{1} + o.program->inputs);
      // The inputs of the part keep their order, in which its instructions have them.
      for (std::size_t k = 0; k < o.program->code.size(); ++k) {
        const auto op = o.program->code[k].op;
        if (op == opcode::input || op == opcode::input_mask)
          inner[o.program->code[k].a] = whole.emit_input(op == opcode::input_mask);
      }
      at[i] = append(whole, *o.program, &inner[0]);
    } else {
      at[i] = whole.emit_input(o.kind == operand<Program>::leaf_mask);
    }
  }
  const value_id y = append(whole, outer, n > 0 ? &at[0] : nullptr);
  whole.results.push_back({y, outer.results[0].type});
  return whole;
}
template <class Program, std::size_t N>
constexpr Program compose(const Program& outer, const std::array<operand<Program>, N>& operands) {
  return compose(outer, operands.data(), N);
}

}}}  // namespace pinion::v0::scalar

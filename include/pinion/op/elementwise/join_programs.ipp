// Bodies of <pinion/op/elementwise/join_programs.hpp>.
#pragma once

#include <algorithm>

#include <pinion/op/elementwise/join_programs.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The place of the inputs in the code of a joined program: before all code; before the code of their own program, as in
// an operand that the DSL absorbs; or where they stand in that code, as in a gradient.
enum class inputs_stand { first, before_their_code, in_place };

// Writes one joined program.
class program_writer {
 public:
  using value_id = scalar::value_id;

  program_writer(const scalar::program& consumer, const scalar::program& producer, std::size_t k,
                 const joint_inputs& inputs)
      : consumer_(consumer), producer_(producer), k_(k), inputs_(inputs) {}

  scalar::program write(inputs_stand where) {
    whole_.arithmetic = consumer_.arithmetic;
    where_ = where;
    if (where == inputs_stand::first) {
      emit_inputs(consumer_, inputs_.of_consumer);
      emit_inputs(producer_, inputs_.of_producer);
    }
    const auto values = append(consumer_, inputs_.of_consumer);
    for (const scalar::result& r : consumer_.results) whole_.results.push_back({values[r.value], r.type});
    int last = -1;
    for (const auto* numbers : {&inputs_.of_consumer, &inputs_.of_producer})
      for (const int number : *numbers) last = std::max(last, number);
    whole_.inputs = static_cast<value_id>(last + 1);
    return std::move(whole_);
  }

 private:
  static constexpr int absent = -1;

  static bool is_input(const scalar::instruction& in) {
    return in.op == scalar::opcode::input || in.op == scalar::opcode::input_mask;
  }
  value_id input(const scalar::instruction& in, int number) {
    if (number == joint_inputs::computed) return produced();
    if (number == joint_inputs::unread) return 0;
    const auto at = static_cast<std::size_t>(number);
    if (values_of_inputs_.size() <= at) values_of_inputs_.resize(at + 1, absent);
    if (values_of_inputs_[at] == absent) values_of_inputs_[at] = whole_.emit(in.op, static_cast<value_id>(number));
    return static_cast<value_id>(values_of_inputs_[at]);
  }
  void emit_inputs(const scalar::program& p, const std::vector<int>& numbers) {
    for (const scalar::instruction& in : p.code)
      if (is_input(in) && numbers[in.a] >= 0) input(in, numbers[in.a]);
  }
  // The value that the producer yields. Its code stands where the consumer reads it first.
  value_id produced() {
    if (produced_ != absent) return static_cast<value_id>(produced_);
    if (where_ == inputs_stand::before_their_code) emit_inputs(producer_, inputs_.of_producer);
    const value_id value = append(producer_, inputs_.of_producer)[producer_.results[k_].value];
    produced_ = value;
    return value;
  }
  // Appends the code of one of the programs. Returns the values of its instructions.
  std::vector<value_id> append(const scalar::program& part, const std::vector<int>& numbers) {
    std::vector<value_id> moved;
    for (scalar::instruction in : part.code) {
      if (is_input(in)) {
        moved.push_back(input(in, numbers[in.a]));
      } else if (in.op == scalar::opcode::literal) {
        moved.push_back(whole_.emit_literal(part.literals[in.a]));
      } else if (in.op == scalar::opcode::constant) {
        moved.push_back(whole_.emit_constant(part.constants[in.a]));
      } else {
        for (int k = 0; k < scalar::facts(in.op).operands; ++k) in.operand(k) = moved[in.operand(k)];
        moved.push_back(whole_.emit(in.op, in.a, in.b, in.c));
      }
    }
    return moved;
  }

  const scalar::program &consumer_, &producer_;
  const std::size_t k_;
  const joint_inputs& inputs_;
  inputs_stand where_ = inputs_stand::first;
  scalar::program whole_;
  std::vector<int> values_of_inputs_;  // by number
  int produced_ = absent;
};

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL scalar::program join_programs(const scalar::program& consumer, const scalar::program& producer,
                                          std::size_t k, const joint_inputs& inputs) {
  using detail::inputs_stand;
  const auto written = [&](inputs_stand where) {
    return scalar::executable(detail::program_writer(consumer, producer, k, inputs).write(where));
  };
  for (const inputs_stand where : {inputs_stand::in_place, inputs_stand::before_their_code})
    if (scalar::program p = written(where); scalar::find_compiled(p)) return p;
  return written(inputs_stand::first);
}

}}}  // namespace pinion::v0::op

// Bodies of <pinion/scalar/simplify.hpp>.
#pragma once

#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include <pinion/scalar/simplify.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

class simplifier {
 public:
  explicit simplifier(const program& from) : from_(from) {
    to_.arithmetic = from.arithmetic;
    to_.inputs = from.inputs;
  }

  program run() {
    for (const instruction& in : from_.code) moved_.push_back(move(in));
    for (const result& r : from_.results) to_.results.push_back({moved_[r.value], r.type});
    return without_dead_values(to_);
  }

 private:
  value_id move(instruction in) {
    if (in.op == opcode::input || in.op == opcode::input_mask) return to_.emit(in.op, in.a);
    if (in.op == opcode::literal) return leaf(literals_, from_.literals[in.a], &program::emit_literal);
    if (in.op == opcode::constant) return leaf(constants_, from_.constants[in.a], &program::emit_constant);
    for (int k = 0; k < facts(in.op).operands; ++k) in.operand(k) = moved_[in.operand(k)];
    if ((in.op == opcode::add || in.op == opcode::multiply) && in.a > in.b) std::swap(in.a, in.b);
    const value_id same = known(in);
    return same != none ? same : shared(in);
  }

  // The value of an instruction that needs no instruction of its own; `none` for others.
  value_id known(instruction& in) const {
    switch (in.op) {
      case opcode::multiply: return is_one(in.a) ? in.b : is_one(in.b) ? in.a : none;
      case opcode::divide: return is_one(in.b) ? in.a : none;
      case opcode::negate: return to_.code[in.a].op == opcode::negate ? to_.code[in.a].a : none;
      case opcode::select: {
        const instruction b = to_.code[in.b], c = to_.code[in.c];
        if (b.op == opcode::select && b.a == in.a) in.b = b.b;
        if (c.op == opcode::select && c.a == in.a) in.c = c.c;
        return in.b == in.c ? in.b : none;
      }
      default: return none;
    }
  }
  bool is_one(value_id id) const {
    const instruction& in = to_.code[id];
    return in.op == opcode::constant && to_.constants[in.a] == number(1);
  }

  value_id shared(const instruction& in) {
    const auto key = std::uint64_t(in.op) << 48 | std::uint64_t(in.a) << 32 | std::uint64_t(in.b) << 16 | in.c;
    const auto [found, fresh] = values_.try_emplace(key, value_id{0});
    if (fresh) found->second = to_.emit(in.op, in.a, in.b, in.c);
    return found->second;
  }

  using leaves = std::map<std::pair<std::uint64_t, std::int64_t>, value_id>;
  value_id leaf(leaves& seen, const number& n, value_id (program::*emit)(number)) {
    const auto [found, fresh] = seen.try_emplace({std::bit_cast<std::uint64_t>(n.real), n.integer}, value_id{0});
    if (fresh) found->second = (to_.*emit)(n);
    return found->second;
  }

  static constexpr value_id none = most_values - 1;

  const program& from_;
  program to_;
  std::vector<value_id> moved_;
  std::unordered_map<std::uint64_t, value_id> values_;
  leaves literals_, constants_;
};

}  // namespace detail

PINION_DECL program simplified(const program& p) {
  return detail::simplifier(p).run();
}

}}}  // namespace pinion::v0::scalar

// Bodies of <pinion/scalar/tile_plan.hpp>.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <pinion/scalar/tile_plan.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

class tile_planner {
 public:
  tile_planner(const program& p, bool pairs)
      : p_(p), pairs_(pairs), readers_(p.code.size()), choices_(readers_), joined_(p.code.size()) {}

  tile_plan run() {
    count_readers();
    make_steps();
    assign_rows();
    return std::move(plan_);
  }

 private:
  static bool is_arithmetic(opcode op) { return opcode::add <= op && op <= opcode::multiply; }
  static bool is_clamp(opcode op, opcode inner) {
    return (op == opcode::minimum && inner == opcode::maximum) || (op == opcode::maximum && inner == opcode::minimum);
  }
  static bool is_comparison(opcode op) { return opcode::less <= op && op <= opcode::not_equal; }

  void count_readers() {
    for (const instruction& in : p_.code)
      for (int k = 0; k < facts(in.op).operands; ++k) {
        ++readers_[in.operand(k)];
        if (in.op == opcode::select && k == 0) ++choices_[in.a];
      }
    for (const result& r : p_.results) ++readers_[r.value];
  }
  bool joins_arithmetic(value_id id, int readers = 1) const {
    return pairs_ && readers_[id] == readers && is_arithmetic(p_.code[id].op);
  }
  // A comparison that only choices read is made by each of them anew, which costs less than a mask in memory.
  bool joins_choices(value_id id) const {
    return pairs_ && readers_[id] == choices_[id] && is_comparison(p_.code[id].op);
  }

  // Steps are made from the last instruction to the first, so that an operand has joined its reader before it would
  // become a step.
  void make_steps() {
    for (std::size_t i = p_.code.size(); i-- > 0;) {
      const bool computes = facts(p_.code[i].op).operands > 0 || p_.code[i].op == opcode::input_mask;
      if (computes && !joined_[i]) plan_.steps.push_back(step_of(static_cast<value_id>(i)));
    }
    std::reverse(plan_.steps.begin(), plan_.steps.end());
  }
  planned_step step_of(value_id id) {
    const instruction& in = p_.code[id];
    if (in.op == opcode::select && joins_choices(in.a)) return pair(tile_op::choice, id, in.a, {in.b, in.c});
    if (in.op == opcode::multiply && in.a == in.b && joins_arithmetic(in.a, 2))
      return pair(tile_op::square, id, in.a, {});
    if (pairs_ && readers_[in.a] == 1 && is_clamp(in.op, p_.code[in.a].op))
      return pair(tile_op::left, id, in.a, {in.b});
    if (is_arithmetic(in.op) && joins_arithmetic(in.a)) return pair(tile_op::left, id, in.a, {in.b});
    const bool commutes = in.op == opcode::add || in.op == opcode::multiply;
    if ((is_arithmetic(in.op) || in.op == opcode::divide) && joins_arithmetic(in.b))
      return pair(commutes ? tile_op::left : tile_op::right, id, in.b, {in.a});
    planned_step alone{{tile_op::single, in.op, {}}, id, {}};
    for (int k = 0; k < facts(in.op).operands; ++k) alone.in.push_back(in.operand(k));
    return alone;
  }
  planned_step pair(tile_op::form form, value_id id, value_id inner, std::initializer_list<value_id> others) {
    const instruction& first = p_.code[inner];
    joined_[inner] = true;
    planned_step both{{form, p_.code[id].op, first.op}, id, {first.a, first.b}};
    both.in.insert(both.in.end(), others);
    return both;
  }

  void assign_rows() {
    const std::size_t end = plan_.steps.size();
    std::vector<std::size_t> last_reader(p_.code.size(), end), free;
    for (std::size_t i = 0; i < end; ++i)
      for (const value_id o : plan_.steps[i].in) last_reader[o] = i;
    for (const result& r : p_.results) last_reader[r.value] = end;
    plan_.row_of.resize(p_.code.size());
    std::vector<bool> has_row(p_.code.size());
    for (std::size_t i = 0; i < end; ++i) {
      const planned_step& step = plan_.steps[i];
      for (const value_id o : step.in) {
        if (last_reader[o] != i || !has_row[o]) continue;
        free.push_back(plan_.row_of[o]);
        has_row[o] = false;  // it is freed once, also where it is both operands
      }
      has_row[step.value] = true;
      plan_.row_of[step.value] = free.empty() ? plan_.rows++ : free.back();
      if (!free.empty()) free.pop_back();
    }
  }

  const program& p_;
  const bool pairs_;
  std::vector<int> readers_, choices_;  // of each value: those that read it, and those of them that choose by it
  std::vector<bool> joined_;            // true for a value that its readers compute
  tile_plan plan_;
};

}  // namespace detail

PINION_DECL tile_plan plan_tiles(const program& p, bool pairs) {
  return detail::tile_planner(p, pairs).run();
}

}}}  // namespace pinion::v0::scalar

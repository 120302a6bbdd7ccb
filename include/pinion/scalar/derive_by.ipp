// Bodies of <pinion/scalar/derive_by.hpp>.
#pragma once

#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/derive_by.hpp>
#include <pinion/scalar/simplify.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

// The tangents during a forward walk over one program: the derivative of each value by one input.
struct forward_pass {
  using program_type = program;
  using V = symbol<program>;
  program& p;
  std::vector<value_id> tangent;  // 0: none (the first tangent is a constant behind the program)
  value_id at = 0;

  V amount(int k) { return {&p, tangent[p.code[at].operand(k)]}; }
  bool flows(int k) const { return tangent[p.code[at].operand(k)] != 0; }
  void give(int, V amount) { tangent[at] = tangent[at] == 0 ? amount.id : (V{&p, tangent[at]} + amount).id; }
  void visit(value_id id) {
    at = id;
    bool any = false;
    for (int k = 0; k < facts(p.code[id].op).operands; ++k) any |= flows(k);
    if (any) apply_rule(*this, id);
  }
};

class derivation {
 public:
  derivation(const program& p, const std::vector<value_id>& wanted, const std::vector<bool>& given)
      : d_(p), forward_(p.code.size()), wanted_(wanted) {
    d_.results.clear();
    for (std::size_t r = 0; r < p.results.size(); ++r)
      if (given[r]) ends_.push_back({p.results[r].value, d_.emit_input(false)});
    for (std::size_t i = 0; i < forward_; ++i)
      if (p.code[i].op == opcode::input) inputs_.resize(p.inputs), inputs_[p.code[i].a] = static_cast<value_id>(i);
  }

  // Differentiates by one input in a forward pass, since the values that the next derivative asks for then exist
  // already. Several inputs take one backward pass, but each order of derivatives more than doubles the program.
  program run() {
    std::vector<value_id> found = wanted_.size() == 1 ? std::vector<value_id>{by_tangents(wanted_[0])} : by_adjoints();
    for (value_id& id : found) d_.results.push_back({id != 0 ? id : d_.emit_constant(0), d_.arithmetic});
    return simplified(d_);
  }

 private:
  struct end {
    value_id value, adjoint;
  };

  value_id by_tangents(value_id input) {
    forward_pass pass{d_, std::vector<value_id>(forward_)};
    pass.tangent[inputs_[input]] = d_.emit_constant(1);
    for (std::size_t i = 0; i < forward_; ++i) pass.visit(static_cast<value_id>(i));
    value_id sum = 0;
    for (const end& e : ends_) {
      if (pass.tangent[e.value] == 0) continue;
      const value_id part = d_.emit(opcode::multiply, e.adjoint, pass.tangent[e.value]);
      sum = sum == 0 ? part : d_.emit(opcode::add, sum, part);
    }
    return sum;
  }

  std::vector<value_id> by_adjoints() {
    const std::vector<bool> varied = values_that_vary();
    reverse_pass<program> pass(d_);
    pass.varied = &varied;
    for (const end& e : ends_)
      if (varied[e.value]) pass.give_to(e.value, {&d_, e.adjoint});
    for (std::size_t i = forward_; i-- > 0;) pass.visit(static_cast<value_id>(i));
    std::vector<value_id> found;
    for (const value_id k : wanted_) found.push_back(pass.adjoint[inputs_[k]]);
    return found;
  }
  std::vector<bool> values_that_vary() const {
    std::vector<bool> varied(forward_);
    for (const value_id k : wanted_) varied[inputs_[k]] = true;
    for (std::size_t i = 0; i < forward_; ++i)
      for (int k = 0; k < facts(d_.code[i].op).operands; ++k)
        if (varied[d_.code[i].operand(k)]) varied[i] = true;
    return varied;
  }

  program d_;
  std::size_t forward_;  // the number of values that belong to the given program
  const std::vector<value_id>& wanted_;
  std::vector<value_id> inputs_;  // the instruction that reads each input
  std::vector<end> ends_;
};

}  // namespace detail

PINION_DECL program derive_by(const program& p, const std::vector<value_id>& wanted, const std::vector<bool>& given) {
  return detail::derivation(p, wanted, given).run();
}

}}}  // namespace pinion::v0::scalar

// The programs of elementwise nodes around a bias, as passes recognise them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <pinion/op/elementwise/op.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A program, looked at for sums of products and biases.
class bias_program {
 public:
  using value_id = scalar::value_id;

  explicit bias_program(const scalar::program& p) : p_(scalar::executable(p)) {}

  // True if the result is the sum of both inputs, or relu of it.
  bool is_sum() const { return is_whole() && is_sum(p_.results[0].value); }
  bool is_relu_of_sum() const {
    if (!is_whole()) return false;
    const scalar::instruction& choice = at(p_.results[0].value);
    return choice.op == scalar::opcode::select && is_sum(choice.c) && is_zero(choice.b) &&
           is_not_above(choice.a, choice.c);
  }

  // True for the gradients of the sum of the first two inputs, from the last input; or of relu of that sum, whose value
  // is the first input.
  bool is_sum_gradient() const { return are_gradients() && is_input(p_.results[0].value, 2); }
  bool is_relu_gradient() const {
    if (!are_gradients()) return false;
    const scalar::instruction& choice = at(p_.results[0].value);
    if (choice.op != scalar::opcode::select) return false;
    const scalar::instruction& sign = at(choice.a);
    const bool is_shut = is_not_above(choice.a, sign.a) && is_input(sign.a, 0);
    const bool is_open = is_above(choice.a, sign.b) && is_input(sign.b, 0);
    return (is_shut && is_zero(choice.b) && is_input(choice.c, 2)) ||
           (is_open && is_input(choice.b, 2) && is_zero(choice.c));
  }

  // The program with another meaning of the inputs that are products: each is its sum with an input that is a bias, or
  // relu of that. Nothing where it needs the products themselves.
  std::optional<scalar::program> of_ended(const std::vector<bool>& is_product, const std::vector<bool>& is_bias,
                                          bool relu) const {
    const sums ended = sums_of(is_product, is_bias);
    scalar::program changed = p_;
    for (std::size_t i = 0; i < p_.code.size(); ++i) {
      if (ended[i]) continue;
      scalar::instruction& in = changed.code[i];
      const auto v = static_cast<value_id>(i);
      const bool takes_relu = is_not_above(v, in.a) || is_above(v, in.b);  // relu of a value has its sign
      for (int k = 0; k < scalar::facts(in.op).operands; ++k)
        if (!replace(in.operand(k), ended, is_product, takes_relu || !relu)) return std::nullopt;
    }
    for (scalar::result& r : changed.results)
      if (!replace(r.value, ended, is_product, !relu)) return std::nullopt;
    return scalar::without_dead_values(changed);
  }

 private:
  using sums = std::vector<std::optional<value_id>>;  // of each value that is a sum: the product in it

  sums sums_of(const std::vector<bool>& is_product, const std::vector<bool>& is_bias) const {
    sums found(p_.code.size());
    for (std::size_t i = 0; i < p_.code.size(); ++i) {
      const scalar::instruction& in = p_.code[i];
      if (in.op != scalar::opcode::add) continue;
      if (is_input(in.a, is_product) && is_input(in.b, is_bias)) found[i] = in.a;
      if (is_input(in.b, is_product) && is_input(in.a, is_bias)) found[i] = in.b;
    }
    return found;
  }
  // Lets an operand that is a sum be the input that now has its meaning. False where the operand is a product itself,
  // or is a sum and may not be.
  bool replace(value_id& operand, const sums& ended, const std::vector<bool>& is_product, bool may_be) const {
    if (is_input(operand, is_product)) return false;
    if (!ended[operand]) return true;
    operand = *ended[operand];
    return may_be;
  }
  const scalar::instruction& at(value_id v) const { return p_.code[v]; }
  bool is_whole() const {
    return p_.inputs == 2 && p_.results.size() == 1 && is_floating(p_.arithmetic) &&
           p_.results[0].type == p_.arithmetic;
  }
  // True where two inputs have the same gradient, but for the sums over the axes along which one was broadcast.
  bool are_gradients() const {
    const auto& r = p_.results;
    return p_.inputs == 3 && r.size() == 2 && r[0].value == r[1].value && is_floating(p_.arithmetic) &&
           r[0].type == p_.arithmetic && r[1].type == p_.arithmetic;
  }
  bool is_input(value_id v, std::size_t number) const { return at(v).op == scalar::opcode::input && at(v).a == number; }
  bool is_input(value_id v, const std::vector<bool>& of) const {
    return at(v).op == scalar::opcode::input && of[at(v).a];
  }
  bool is_sum(value_id v) const {
    const scalar::instruction& in = at(v);
    return in.op == scalar::opcode::add && at(in.a).op == scalar::opcode::input &&
           at(in.b).op == scalar::opcode::input && in.a != in.b;
  }
  bool is_zero(value_id v) const {
    return at(v).op == scalar::opcode::constant && p_.constants[at(v).a].as<double>() == 0;
  }
  // True if a value tells whether another is not above 0, or is above it.
  bool is_not_above(value_id v, value_id of) const {
    return at(v).op == scalar::opcode::less_equal && at(v).a == of && is_zero(at(v).b);
  }
  bool is_above(value_id v, value_id of) const {
    return at(v).op == scalar::opcode::less && is_zero(at(v).a) && at(v).b == of;
  }

  const scalar::program p_;
};

}}}}  // namespace pinion::v0::op::detail

// Bodies of <pinion/runtime/optimize/fold_biases.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/runtime/optimize/elementwise_nodes.hpp>
#include <pinion/runtime/optimize/fold_biases.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

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
    return choice.op == scalar::opcode::select && is_sum(choice.c) && is_zero(choice.b) && is_sign(choice.a, choice.c);
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
      const bool takes_relu = is_sign(static_cast<value_id>(i), in.a);
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
  // True if a value tells whether another is not above 0, which relu of that other tells as well.
  bool is_sign(value_id v, value_id of) const {
    return at(v).op == scalar::opcode::less_equal && at(v).a == of && is_zero(at(v).b);
  }

  const scalar::program p_;
};

// A sum of a product and a bias, or relu of it, as one node would compute it.
class bias_fold {
 public:
  bias_fold(draft& d, node_id sum) : d_(d), sum_(sum) {}

  // Makes the change where it is possible.
  bool make() {
    if (!find() || !change_readers()) return false;
    d_.fold(product_, sum_);
    const node& product = d_.node_at(product_);
    node& whole = d_.change(sum_);
    whole.op = op::biased_matmul::name;
    whole.inputs = {product.inputs[0], product.inputs[1], bias_};
    whole.attrs = {{"transpose_a", product.attrs.get_or("transpose_a", false)},
                   {"transpose_b", product.attrs.get_or("transpose_b", false)},
                   {"relu", relu_}};
    for (auto& [reader, changed] : readers_) {
      node& n = d_.change(reader);
      n.attrs.set("program", op::shared_program(std::make_shared<const scalar::program>(std::move(changed))));
      std::replace(n.inputs.begin(), n.inputs.end(), output{product_, 0}, output{sum_, 0});
    }
    return true;
  }

 private:
  bool find() {
    const node& n = d_.node_at(sum_);
    if (!d_.runs(sum_) || !d_.is_on_gpu(sum_) || n.inputs.size() != 2 || !is_elementwise(n)) return false;
    const bias_program p(op::program_of(n.attrs));
    relu_ = p.is_relu_of_sum();
    if (!relu_ && !p.is_sum()) return false;
    return is_product(n.inputs[0], n.inputs[1]) || is_product(n.inputs[1], n.inputs[0]);
  }
  bool is_product(output product, output bias) {
    const node& n = d_.node_at(product.node);
    if (n.op != op::matmul::name || !d_.runs(product.node) || d_.is_fed(product.node) || d_.is_end(product.node) ||
        !n.control_inputs.empty() || d_[product.node].device != d_[sum_].device)
      return false;
    product_ = product.node;
    bias_ = bias;
    const shape &of = n.outputs[0].shape, &row = d_.type_of(bias).shape;
    return of.rank() == 2 && row.rank() == 1 && row[0] >= 0 && row[0] == of[1];
  }
  // Prepares the other readers of the product, which are to read the result.
  bool change_readers() {
    int reads = 1;
    for (node_id i = sum_ + 1; i < d_.size(); ++i) {
      const auto& inputs = d_.node_at(i).inputs;
      const auto here = std::count(inputs.begin(), inputs.end(), output{product_, 0});
      if (!d_.runs(i) || here == 0) continue;
      reads += static_cast<int>(here);
      if (!change_reader(i)) return false;
    }
    return reads == d_.uses(product_);
  }
  bool change_reader(node_id i) {
    const node& n = d_.node_at(i);
    if (!is_map_gradient(n) || d_[i].device != d_[sum_].device) return false;
    std::vector<bool> is_product, is_bias;
    for (const output& in : n.inputs) {
      is_product.push_back(in == output{product_, 0});
      is_bias.push_back(in == bias_);
    }
    auto changed = bias_program(op::program_of(n.attrs)).of_ended(is_product, is_bias, relu_);
    if (changed) readers_.emplace_back(i, std::move(*changed));
    return changed.has_value();
  }

  draft& d_;
  const node_id sum_;
  node_id product_ = no_node;
  output bias_{};
  bool relu_ = false;
  std::vector<std::pair<node_id, scalar::program>> readers_;
};

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int fold_biases(draft& d) {
  int folded = 0;
  for (node_id i = 0; i < d.size(); ++i) folded += detail::bias_fold(d, i).make();
  return folded;
}

}}}  // namespace pinion::v0::runtime

// Bodies of <pinion/op/layer/fold_bias_gradients.hpp>.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <pinion/op/elementwise/elementwise_nodes.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/symbolic_shapes.hpp>
#include <pinion/op/layer/bias_program.hpp>
#include <pinion/op/layer/fold_bias_gradients.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/readers.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Tells whether a node on a GPU holds gradients that may be folded: those by two inputs of a node, from a third.
inline bool is_open(const draft& d, node_id i) {
  const node& n = d.node_at(i);
  return d.runs(i) && d.is_on_gpu(i) && !d.is_fed(i) && is_map_gradient(n) && n.inputs.size() == 3;
}

// The open gradients of a layer that ends with relu, and the product from which they come, as one node would compute
// them.
class relu_gradient_fold {
 public:
  relu_gradient_fold(draft& d, const symbolic_shapes& shapes, node_id gradients)
      : d_(d), shapes_(shapes), gradients_(gradients) {}

  // Makes the change where it is possible.
  bool make() {
    if (!is_found()) return false;
    node& whole = d_.change(gradients_);
    const output relu = whole.inputs[0];
    const node_id from = whole.inputs[2].node;
    d_.fold(from, gradients_);
    const node& product = d_.node_at(from);
    node& layer = d_.change(relu.node);
    if (layer.outputs.size() == 1) layer.outputs.push_back({dtype::uint8, shape::unknown_of_rank(2)});
    layer.attrs.set("mask", true);
    whole.op = op::matmul_relu_gradient::name;
    whole.inputs = {product.inputs[0], product.inputs[1], relu, {relu.node, 1}};
    whole.attrs = op::matmul::attributes_of_product(product.attrs);
    return true;
  }

 private:
  // A library ends products of float alone in this way. Doubles keep their MapGrad, which reads what it sums once,
  // while pinion's own end of a library's product needs a pass of its own for the sums.
  bool is_found() const {
    const node& n = d_.node_at(gradients_);
    const scalar::program& p = op::program_of(n.attrs);
    return p.arithmetic == dtype::float32 && bias_program(p).is_relu_gradient() && is_layer(n.inputs[0], n.inputs[1]) &&
           is_product(n.inputs[2]) && has_same_shape(n.inputs[0], n.inputs[2]);
  }
  bool is_layer(output relu, output bias) const {
    const node& n = d_.node_at(relu.node);
    return n.op == op::biased_matmul::name && relu.index == 0 && n.inputs[2] == bias && n.attrs.get_or("relu", false) &&
           is_here(relu.node);
  }
  bool is_product(output by_relu) const {
    const node& n = d_.node_at(by_relu.node);
    return n.op == op::matmul::name && n.control_inputs.empty() && d_.uses(by_relu.node) == 1 && is_here(by_relu.node);
  }
  bool is_here(node_id i) const { return d_.runs(i) && !d_.is_fed(i) && d_[i].device == d_[gradients_].device; }
  bool has_same_shape(output a, output b) const {
    const auto *const of_a = shapes_.of(a), *const of_b = shapes_.of(b);
    return of_a && of_b && *of_a == *of_b;
  }

  draft& d_;
  const symbolic_shapes& shapes_;
  const node_id gradients_;
};

// The open gradients of a sum with a bias, of which one is that of the sum and the other adds up its rows, and the
// product with it that the weights get, as one node would compute them.
class bias_gradient_fold {
 public:
  bias_gradient_fold(draft& d, std::span<const reading> readers, node_id gradients)
      : d_(d), readers_(readers), gradients_(gradients) {}

  // Makes the change where it is possible.
  bool make() {
    if (!is_found() || !find_product() || !may_move()) return false;
    d_.fold(gradients_, product_);
    node& whole = d_.change(product_);
    const bool right = is_summed_right(whole);
    whole.op = op::matmul_bias_gradient::name;
    whole.attrs = op::matmul::attributes_of_product(whole.attrs);
    whole.attrs.set("sums_left", !right);
    whole.outputs.push_back(d_.type_of(by_bias_));
    for (const auto& [i, input] : readers_) {
      output& in = d_.change(i).inputs[input];
      in = in == by_sum_ ? from_ : output{product_, 1};
    }
    return true;
  }

 private:
  bool is_found() {
    const node& n = d_.node_at(gradients_);
    if (!n.control_inputs.empty() || d_.is_end(gradients_) || !bias_program(op::program_of(n.attrs)).is_sum_gradient())
      return false;
    from_ = n.inputs[2];
    const int bias = n.inputs[0] == from_ ? 1 : 0;
    if (!(n.inputs[static_cast<std::size_t>(1 - bias)] == from_)) return false;
    by_sum_ = {gradients_, 1 - bias};
    by_bias_ = {gradients_, bias};
    const shape &matrix = d_.type_of(from_).shape, &row = d_.type_of(by_bias_).shape;
    return matrix.rank() == 2 && row.rank() == 1 && row[0] >= 0 && row[0] == matrix[1];
  }
  // Finds the first product whose inner dimension is that of the rows.
  bool find_product() {
    for (const auto& [i, input] : readers_) {
      const node& n = d_.node_at(i);
      if (n.op != op::matmul::name || d_.is_fed(i) || d_[i].device != d_[gradients_].device) continue;
      if (!is_summed_right(n) && !is_summed_left(n)) continue;
      product_ = i;
      return true;
    }
    return false;
  }
  bool is_summed_right(const node& n) const { return n.inputs[1] == by_sum_ && !n.attrs.get_or("transpose_b", false); }
  bool is_summed_left(const node& n) const { return n.inputs[0] == by_sum_ && n.attrs.get_or("transpose_a", false); }
  // Tells whether all that reads the gradient of the bias comes behind the product.
  bool may_move() const {
    const auto is_behind = [this](const reading& r) {
      return r.reader >= product_ || !(d_.node_at(r.reader).inputs[r.input] == by_bias_);
    };
    return static_cast<int>(readers_.size()) == d_.uses(gradients_) &&
           std::all_of(readers_.begin(), readers_.end(), is_behind);
  }

  draft& d_;
  const std::span<const reading> readers_;  // of the gradients
  const node_id gradients_;
  node_id product_ = no_node;
  output from_{}, by_sum_{}, by_bias_{};  // the gradient of the sum, and both results
};

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int fold_bias_gradients(draft& d) {
  std::vector<node_id> open;
  for (node_id i = 0; i < d.size(); ++i)
    if (detail::is_open(d, i)) open.push_back(i);
  if (open.empty()) return 0;
  const symbolic_shapes shapes(d);
  const readers of(d);
  int folded = 0;
  for (const node_id i : open)
    folded += detail::relu_gradient_fold(d, shapes, i).make() || detail::bias_gradient_fold(d, of.of(i), i).make();
  return folded;
}

}}}  // namespace pinion::v0::op

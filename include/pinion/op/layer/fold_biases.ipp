// Bodies of <pinion/op/layer/fold_biases.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/elementwise_nodes.hpp>
#include <pinion/op/layer/bias_program.hpp>
#include <pinion/op/layer/fold_biases.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/readers.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Tells whether a node on a GPU is elementwise in two inputs.
inline bool may_be_sum(const draft& d, node_id i) {
  const node& n = d.node_at(i);
  return d.runs(i) && d.is_on_gpu(i) && n.inputs.size() == 2 && is_elementwise(n);
}

// A sum of a product and a bias, or relu of it, as one node would compute it. Requires: may_be_sum().
class bias_fold {
 public:
  bias_fold(draft& d, const readers& of, node_id sum) : d_(d), of_(of), sum_(sum) {}

  // Makes the change where it is possible.
  bool make() {
    if (!find() || !change_readers()) return false;
    d_.fold(product_, sum_);
    const node& product = d_.node_at(product_);
    node& whole = d_.change(sum_);
    whole.op = op::biased_matmul::name;
    whole.inputs = {product.inputs[0], product.inputs[1], bias_};
    whole.attrs = op::matmul::attributes_of_product(product.attrs);
    whole.attrs.set("relu", relu_);
    for (auto& [reader, changed] : changed_) {
      node& n = d_.change(reader);
      n.attrs.set("program", op::shared_program(std::make_shared<const scalar::program>(std::move(changed))));
      std::replace(n.inputs.begin(), n.inputs.end(), output{product_, 0}, output{sum_, 0});
    }
    return true;
  }

 private:
  bool find() {
    const node& n = d_.node_at(sum_);
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
    const auto all = of_.of(product_);
    const auto later =
        std::upper_bound(all.begin(), all.end(), sum_, [](node_id sum, const reading& r) { return sum < r.reader; });
    if (1 + (all.end() - later) != d_.uses(product_)) return false;
    node_id before = sum_;
    return std::all_of(later, all.end(), [&](const reading& r) {
      return r.reader == std::exchange(before, r.reader) || change_reader(r.reader);
    });
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
    if (changed) changed_.emplace_back(i, std::move(*changed));
    return changed.has_value();
  }

  draft& d_;
  const readers& of_;
  const node_id sum_;
  node_id product_ = no_node;
  output bias_{};
  bool relu_ = false;
  std::vector<std::pair<node_id, scalar::program>> changed_;  // the other readers
};

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int fold_biases(draft& d) {
  std::vector<node_id> open;
  for (node_id i = 0; i < d.size(); ++i)
    if (detail::may_be_sum(d, i)) open.push_back(i);
  if (open.empty()) return 0;
  const readers of(d);
  int folded = 0;
  for (const node_id i : open) folded += detail::bias_fold(d, of, i).make();
  return folded;
}

}}}  // namespace pinion::v0::op

// Bodies of <pinion/op/changing_inputs.hpp>.
#pragma once

#include <unordered_set>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/changing_inputs.hpp>

namespace pinion { inline namespace v0 {

namespace op {
#define PINION_MAP_TAG(tag, functor_name, op_name, base) , tag
#define PINION_UPDATE_TAG(tag, op_name) , tag, sparse_##tag
// The ops whose kernels read an element for its value alone: how far they read, where they write and how much memory
// they take follows from shapes, attributes and integers, which are never lent. Those of states copy what they keep. A
// law runs each of them on memory that changes. An op is added for its speed; none has to be.
// clang-format off
using bearing_changes = type_list<
    identity, zeros_like, ones_like, shape_of, assign, assign_add, assign_sub, assign_multiply, reduce_sum, reduce_mean,
    reduce_max, reduce_min, reduce_prod, expand_like, map_reduction, argmax, softmax, log_softmax, scale_rows,
    softmax_cross_entropy, sparse_softmax_cross_entropy, gather, scatter_dense, reshape, reshape_like, merge_axes,
    expand_dims, squeeze, transpose, concat, split_like, split, slice, slice_like, pad_like, pad, tile, tile_grad,
    conv2d, conv2d_backprop_input, conv2d_backprop_filter, avg_pool, avg_pool_grad, queue_enqueue, queue_enqueue_many,
    accumulator_apply, sparse_accumulator_apply, conditional, loop, matmul, biased_matmul, matmul_relu_gradient,
    matmul_bias_gradient, apply_product,
    map_gradient PINION_MAP_OPS(PINION_MAP_TAG) PINION_UPDATE_OPS(PINION_UPDATE_TAG)>;
// clang-format on
#undef PINION_MAP_TAG
#undef PINION_UPDATE_TAG
}  // namespace op

PINION_DECL bool bears_changing_inputs(std::string_view op) {
  static const auto names = [] {
    std::unordered_set<std::string_view> all;
    for_each_type(op::bearing_changes{}, [&]<class Op>() { all.insert(Op::name); });
    return all;
  }();
  return names.count(op) > 0;
}

}}  // namespace pinion::v0

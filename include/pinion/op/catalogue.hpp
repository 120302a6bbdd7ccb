// The catalogue: every op of the library in a type list, from which the tables of definitions and kernels are built.
#pragma once

#include <string_view>
#include <unordered_map>

#include <pinion/base/config.hpp>
#include <pinion/base/type_list.hpp>
#include <pinion/op/attention/op.hpp>
#include <pinion/op/band/op.hpp>
#include <pinion/op/bits/op.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/convert/op.hpp>
#include <pinion/op/ctc/op.hpp>
#include <pinion/op/distribution/op.hpp>
#include <pinion/op/dynamic/op.hpp>
#include <pinion/op/einsum/op.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/norm/op.hpp>
#include <pinion/op/order/op.hpp>
#include <pinion/op/queue/op.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/op/recurrent/op.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/resize/op.hpp>
#include <pinion/op/rows/op.hpp>
#include <pinion/op/scatter/op.hpp>
#include <pinion/op/search/op.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/op/strided/op.hpp>
#include <pinion/op/summary/op.hpp>
#include <pinion/op/sync/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/volume/op.hpp>

namespace pinion { inline namespace v0 {

namespace op {
#define PINION_MAP_TAG(tag, functor_name, op_name, base) , tag
#define PINION_UPDATE_TAG(tag, op_name) , tag, sparse_##tag
#define PINION_TAG(tag, op_name) , tag
// Those that compute, make or move elements, and the others: products, state, bodies, summaries. Each list is a unit of
// pinion::compiled. Lines are filled by hand, since the formatter would indent and so lengthen the list.
// clang-format off
using ops_of_elements = type_list<
    constant, fill, placeholder, identity, stop_gradient, zeros_like, ones_like, no_op, range, shape_of, reduce_sum,
    reduce_mean, reduce_max, reduce_min, reduce_prod, reduce_all, reduce_any, expand_like, map_reduction, prod_grad,
    argmax, argmin, softmax, log_softmax, scale_rows, softmax_cross_entropy, sparse_softmax_cross_entropy, in_top_k,
    random_uniform, random_normal, truncated_normal, random_gamma, random_poisson, gather, partition_indices,
    scatter_dense, one_hot, reshape, reshape_like, merge_axes, expand_dims, squeeze, transpose, concat, split_like,
    split, slice, slice_like, pad_like, pad, mirror_pad, mirror_pad_grad, tile, tile_grad, sort, arg_sort, top_k,
    cumsum, cumprod, linear_recurrence, take_along_axis, add_along_axis, gather_nd, scatter_nd, scatter_nd_like,
    segment_sum, segment_max, segment_min, segment_prod, segment_recurrence, gather_segments, where, mask_indices,
    unique, lower_bound, upper_bound, strided_slice, strided_slice_grad, reverse, roll, broadcast_to, band_part,
    layer_norm, layer_norm_gradient, rms_norm, rms_norm_gradient, dynamic_reshape, dynamic_broadcast_to, dynamic_slice,
    dynamic_slice_grad, dynamic_strided_slice, dynamic_strided_slice_grad, dynamic_tile, dynamic_tile_grad, split_v,
    dynamic_range, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, invert, population_count, select_text,
    convert, map_gradient PINION_MAP_OPS(PINION_MAP_TAG)>;
using other_ops = type_list<
    conv3d, conv3d_backprop_input, conv3d_backprop_filter, max_pool3d, max_pool3d_grad, max_pool3d_grad_grad,
    avg_pool3d, avg_pool3d_grad, conv2d, conv2d_backprop_input, conv2d_backprop_filter, max_pool, max_pool_grad,
    max_pool_grad_grad, avg_pool, avg_pool_grad, resize_nearest_neighbor, resize_nearest_neighbor_grad, resize_bilinear,
    resize_bilinear_grad, matmul, batch_matmul, einsum, einsum_like, attention, attention_gradient, ctc_loss,
    ctc_loss_gradient, ctc_greedy_decoder, lstm, lstm_gradient, gru, gru_gradient, simple_rnn, simple_rnn_gradient,
    biased_matmul, matmul_relu_gradient, matmul_bias_gradient, variable, assign, assign_add, assign_sub,
    assign_multiply, fifo_queue, random_shuffle_queue, padding_fifo_queue, priority_queue, queue_enqueue,
    queue_enqueue_many, queue_dequeue, queue_dequeue_many, queue_dequeue_up_to, queue_size, queue_is_closed,
    queue_close, gradient_accumulator, accumulator_apply, sparse_accumulator_apply, accumulator_take,
    sparse_accumulator_take, accumulator_set_step, replica_barrier, barrier_enter, barrier_commit, barrier_take,
    barrier_advance, barrier_stop, barrier_leave, barrier_expire, barrier_counts, replica_clock, clock_enter,
    clock_tick, clock_leave, clock_expire, clock_counts, scalar_summary, histogram_summary, image_summary, text_summary,
    merge_summary, conditional, loop, scatter_update PINION_ROW_OPS(PINION_TAG),
    scatter_nd_update PINION_PART_OPS(PINION_TAG), apply_product PINION_UPDATE_OPS(PINION_UPDATE_TAG)>;
// clang-format on
template <class... A, class... B>
type_list<A..., B...> joined(type_list<A...>, type_list<B...>);
using catalogue = decltype(joined(ops_of_elements(), other_ops()));
#undef PINION_MAP_TAG
#undef PINION_UPDATE_TAG
#undef PINION_TAG
}  // namespace op

namespace detail {
// The definitions of all ops by name, built on first use.
const std::unordered_map<std::string_view, definition>& definitions();
}  // namespace detail

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/catalogue.ipp>
#endif

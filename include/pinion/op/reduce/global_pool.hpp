// Pools of whole images, which are reductions of all axes between the first, of examples, and the last, of channels.
//
//   auto features = pn::global_avg_pool(images);       // [n, h, w, c] -> [n, c]
#pragma once

#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/op/reduce/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of global_max_pool and global_avg_pool.
struct global_pool_options {
  bool keep_dims = false;  // keep reduced axes, with extent 1
  std::string_view name = {};
};

namespace dsl {
// The axes between the first and the last. Throws invalid_argument unless the rank is known, and 3 or more.
axis_list axes_of_space(const char* function, const shape& x);
}  // namespace dsl

// The greatest element of each channel, and the mean: x [n, ..., c] of three axes or more -> [n, c], or [n, 1, ..., c]
// with keep_dims. Extents may be unknown. Results of no elements, dtypes and gradients are those of reduce_max and
// reduce_mean. Throws invalid_argument for an unknown rank, and for one below 3. Keras: GlobalMaxPooling2D and
// GlobalAveragePooling2D.
template <dsl::graph_operand A>
auto global_max_pool(A&& x, const global_pool_options& options = {},
                     source_location where = source_location::current()) {
  const axis_list axes = dsl::axes_of_space("global_max_pool", x.shape());
  return reduce_max(std::forward<A>(x), {.axes = axes, .keep_dims = options.keep_dims, .name = options.name}, where);
}
template <dsl::graph_operand A>
auto global_avg_pool(A&& x, const global_pool_options& options = {},
                     source_location where = source_location::current()) {
  const axis_list axes = dsl::axes_of_space("global_avg_pool", x.shape());
  return reduce_mean(std::forward<A>(x), {.axes = axes, .keep_dims = options.keep_dims, .name = options.name}, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/reduce/global_pool.ipp>
#endif

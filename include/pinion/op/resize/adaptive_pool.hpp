// Pools that yield images of a given size, whatever the size of those that they are given.
//
//   auto features = pn::adaptive_avg_pool(images, {7, 7});       // [n, h, w, c] -> [n, 7, 7, c]
//
// <pinion/train.hpp> brings this header, <pinion/graph.hpp> does not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/conv/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of adaptive pools. The name is that of a name scope around the nodes.
struct adaptive_pool_options {
  std::string_view name = {};
};

namespace dsl {

// The windows of one axis as a table [out, longest window] of places in it. Behind the end of a window its last place
// stands again.
tensor<std::int32_t> adaptive_windows(std::int64_t in, std::int64_t out);
// The share of each of these places in the mean of its window: 0 for what stands again.
tensor<double> adaptive_shares(std::int64_t in, std::int64_t out);

// Throws invalid_argument unless images [n, h, w, c] of known heights and widths from 1 on can be pooled to that size.
void expect_adaptive(const char* function, const shape& images, const std::array<std::int64_t, 2>& size);

// The pool whose windows have one size, where there is such.
bool is_even_pool(const shape& images, const std::array<std::int64_t, 2>& size);
pool_options even_pool(const shape& images, const std::array<std::int64_t, 2>& size);

// Pools along one axis, by the elements of all windows: [..., out, longest window, ...] -> [..., out, ...].
template <class T>
expr<T> adaptive_maximum(const expr<T>& x, int axis, std::int64_t out) {
  const expr<T> windows = gather(x, constant(adaptive_windows(x.shape()[axis], out)), {.axis = axis});
  return reduce_max(windows, axis + 1);
}
template <class T>
expr<T> adaptive_mean(const expr<T>& x, int axis, std::int64_t out) {
  const std::int64_t in = x.shape()[axis];
  const expr<T> windows = gather(x, constant(adaptive_windows(in, out)), {.axis = axis});
  const tensor<double> all = adaptive_shares(in, out);
  shape behind = all.shape();
  for (int i = axis + 1; i < x.shape().rank(); ++i) behind.push_back(1);
  tensor<T> shares(behind);
  tensor<bool> counts(behind);  // a place that only fills a window up may be infinite
  for (std::int64_t i = 0; i < all.size(); ++i) {
    shares.data()[i] = static_cast<T>(all.data()[i]);
    counts.data()[i] = all.data()[i] != 0;
  }
  const expr<T> weighted = select(constant(counts), windows * constant(shares), T(0));
  return reduce_sum(weighted, axis + 1);
}

}  // namespace dsl

// The greatest element of each window, and the mean, for each channel: images [n, h, w, c] -> [n, size[0], size[1], c].
// Along an axis of extent e, window i of s has the places from floor(i e / s) up to, and without, ceil((i + 1) e / s):
// each place is in a window, windows of one axis differ by one place at most, and neighbours may share one. float,
// double; n and c may be unknown. Where s divides e along both axes it is max_pool or avg_pool, and otherwise nodes of
// gather and of a reduction along each axis, so that there are gradients of any order. The gradient of several equal
// maxima goes to the first of them where windows have one size, and to all evenly otherwise.
//
// Throws invalid_argument for a rank other than 4, for heights and widths that are unknown or 0, and for a size below
// 1. PyTorch: torch.nn.AdaptiveMaxPool2d and AdaptiveAvgPool2d; TensorFlow Addons: AdaptiveMaxPooling2D and
// AdaptiveAveragePooling2D, for sizes that divide.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> adaptive_max_pool(const A& images, const std::array<std::int64_t, 2>& size,
                                         const adaptive_pool_options& options = {},
                                         source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope{options.name.empty() ? std::string_view("adaptive_max_pool") : options.name};
  const expr<T> x = images;
  dsl::expect_adaptive("adaptive_max_pool", x.shape(), size);
  if (dsl::is_even_pool(x.shape(), size)) return max_pool(x, dsl::even_pool(x.shape(), size));
  return dsl::adaptive_maximum(dsl::adaptive_maximum(x, 1, size[0]), 2, size[1]);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> adaptive_avg_pool(const A& images, const std::array<std::int64_t, 2>& size,
                                         const adaptive_pool_options& options = {},
                                         source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope{options.name.empty() ? std::string_view("adaptive_avg_pool") : options.name};
  const expr<T> x = images;
  dsl::expect_adaptive("adaptive_avg_pool", x.shape(), size);
  if (dsl::is_even_pool(x.shape(), size)) return avg_pool(x, dsl::even_pool(x.shape(), size));
  return dsl::adaptive_mean(dsl::adaptive_mean(x, 1, size[0]), 2, size[1]);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/resize/adaptive_pool.ipp>
#endif

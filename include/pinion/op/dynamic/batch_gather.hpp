// Parts of each tensor of a batch by indices of its own. graph.hpp does not bring this header.
//
//   #include <pinion/op/dynamic/batch_gather.hpp>
//
//   auto kept = pn::batch_gather(boxes, pn::top_k(scores, 5).indices);      // [b, n, 4] and [b, 5] -> [b, 5, 4]
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/dynamic/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/scatter/functions.hpp>

namespace pinion { inline namespace v0 {

// The parts of params [batch..., n, rest...] at indices [batch..., k], int or std::int64_t, along the axis behind those
// of the batch -> [batch..., k, rest...]: y[b, i] = params[b, indices[b, i]]. Extents of the batch agree; they may be
// unknown. An index outside fails the step. The gradient adds up where an index is repeated. Throws invalid_argument
// for indices of unknown rank. Any dtype, on CPUs. TensorFlow: tf.batch_gather, which is tf.gather with axis and
// batch_dims one less than the rank of the indices.
template <dsl::graph_operand P, dsl::graph_operand I>
expr<dsl::value_of<P>> batch_gather(P&& params, I&& indices, std::string_view name = {},
                                    source_location where = source_location::current()) {
  dsl::check_numbers<I>();
  using N = dsl::value_of<I>;
  const expr<N> at = std::forward<I>(indices);
  const int batch = dsl::batch_axes_of(at);
  const expr<int> extents = shape_of(at, {}, where);
  std::vector<expr<N>> places;
  for (int axis = 0; axis < batch; ++axis) {
    const expr<int> count = reshape(slice(extents, {axis}, {1}, {}, where), {}, {}, where);
    shape along = shape::unknown_of_rank(0);
    for (int i = 0; i <= batch; ++i) along.push_back(i == axis ? unknown : 1);
    const expr<N> numbers = cast<N>(range(count, {}, where), {}, where);
    places.push_back(broadcast_to(reshape(numbers, along, {}, where), extents, {}, where));
  }
  places.push_back(at);
  const std::string_view named = name.empty() ? "batch_gather" : name;
  return gather_nd(std::forward<P>(params), stack(places, batch + 1, {}, where), named, where);
}

}}  // namespace pinion::v0

// Positions of the elements of a sequence, for attention: rotary ones, and learnt ones.
//
//   auto q = pn::nn::rotary(queries);                    // [batch, heads, length, depth] -> the same
//   auto x = pn::nn::learnt_positions(tokens);           // [batch, length, width] -> the same; positions/embeddings
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/random/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of rotary. `places`, an int32 expression [length], are the places of the elements; without them they are 0,
// 1,
// ..., and the length must be known. A step that decodes with a cache gives the place of its one element. `base` is
// that of the wave lengths.
struct rotary_options {
  any_expr places = {};
  double base = 10000;
  std::string_view name = "rotary";
};

namespace detail {
// The places of x [..., length, depth]. Throws invalid_argument unless depth is known and even, and the length is known
// where no places are given.
any_expr places_of(const any_expr& x, const rotary_options& o, source_location where);
// The angle of each pair of numbers from one place to the next: base^(-2 i / depth).
std::vector<double> angles_of(std::int64_t depth, double base);
}  // namespace detail

// Turns pairs of numbers of each element of a sequence by angles that grow with its place, so that products of queries
// and keys depend on the distance of their places alone (Su et al. 2021): x [..., length, depth] -> the same. Number i
// of the first half and number i of the second are a pair, as in GPT-NeoX and Llama. Apply it to queries and keys.
// Throws invalid_argument unless the depth is known and even. float, double; differentiable.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> rotary(A&& operand, const rotary_options& o = {},
                              source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope{o.name};
  const expr<T> x = std::forward<A>(operand);
  const expr<int> places = dsl::as_typed<expr<int>>(detail::places_of(x, o, where));
  const std::vector<double> by_place = detail::angles_of(x.shape()[x.shape().rank() - 1], o.base);
  const expr<T> angles = expand_dims(cast<T>(places), 1) * constant(std::vector<T>(by_place.begin(), by_place.end()));
  const expr<T> c = cos(angles), s = sin(angles);
  const auto [a, b] = split<2>(x, -1);
  const expr<T> first = a * c - b * s, second = b * c + a * s;
  return concat({first, second}, -1);
}

// Options of learnt_positions. `length` is the most places that there may be; 0: the length of x, which must be known.
struct learnt_positions_options {
  std::int64_t length = 0;
  std::int64_t seed = 0;
  std::string_view name = "positions";
};

// Adds a learnt row to each place: x [batch, length, width] + NAME/embeddings[0 : length], which begin normal with a
// standard deviation of .02. Throws invalid_argument unless the length and width of x are known, and the length is not
// above that of the options.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> learnt_positions(A&& operand, const learnt_positions_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const called_from line(where);
  const name_scope scope{o.name};
  const expr<T> x = std::forward<A>(operand);
  const shape extent = x.shape();
  const std::int64_t most = o.length == 0 && extent.rank() == 3 ? extent[1] : o.length;
  if (extent.rank() != 3 || extent[1] < 0 || extent[2] < 1 || most < extent[1])
    throw error(errc::invalid_argument, "learnt_positions of '" + x.name() + "' of shape " + to_string(extent) +
                                            ", of at most " + std::to_string(most) +
                                            " places: it takes [batch, length, width] of a known length and width");
  const auto rows = variable(truncated_normal<T>({most, extent[2]}, {.stddev = .02, .seed = o.seed}, where),
                             {.name = "embeddings"}, where);
  if (most == extent[1]) return x + rows;
  return x + slice(rows, {0, 0}, {extent[1], -1}, {}, where);
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/positions.ipp>
#endif

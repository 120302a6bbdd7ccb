// The sources of datasets: tensors, numbers, a function, or several datasets side by side.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/dataset.hpp>
#include <pinion/data/generator.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

// The stage of from_tensors().
stage_ptr slices(any_element tensors);

}  // namespace detail

// A dataset of the slices of some tensors along dimension 0: element i is (a[i], b[i], ...). It shares the tensors'
// memory. Up to the first map, filter, cache or prefetch only row numbers are handed on, so that a batch is one copy of
// its rows. Throws invalid_argument for a scalar, and for tensors of different length.
//
//   auto digits = data::from_tensors(images, labels);       // images [60000, 784], labels [60000]
//
// The slices of a vector are scalars. A tensor that the program writes to later gets memory of its own first, so the
// dataset does not change.
template <element... Ts>
requires(sizeof...(Ts) > 0) dataset<Ts...> from_tensors(tensor<Ts>... tensors) {
  return dataset<Ts...>(detail::slices({tensors.untyped()...}));
}

// A dataset of the numbers first, first + step, ... below `end`, or above it where step is negative: int64 scalars.
// Throws invalid_argument if step is 0, or if there would be 2^63 numbers or more.
//
//   data::range(0, 10, 3)                       // 0, 3, 6, 9
//   data::range(3, 0, -1)                       // 3, 2, 1
//
// TensorFlow: tf.data.Dataset.range.
dataset<std::int64_t> range(std::int64_t first, std::int64_t end, std::int64_t step = 1);
// A dataset of the numbers 0, 1, ..., count - 1.
inline dataset<std::int64_t> range(std::int64_t count) {
  return range(0, count);
}

namespace detail {

template <class F, element... Ts>
dataset<Ts...> from_generator(F f, std::type_identity<element_of<Ts...>>) {
  return dataset<Ts...>(generate(generating(std::move(f))));
}

}  // namespace detail

// A dataset of the values that f() returns, until it returns nothing. f returns a std::optional of a tensor, a number
// or a tuple of these. Each pass calls a copy of f in the state in which it was given, so a mutable lambda begins anew.
// A function that waits may take a std::stop_token; the stop is requested when the pass is destroyed while one of its
// threads waits in f.
//
//   auto squares = data::from_generator([i = 0]() mutable -> std::optional<int> {
//     return ++i < 10 ? std::optional(i * i) : std::nullopt;
//   });
//
// It runs in the thread that asks for the element, or in that of a prefetch behind it, never in two at once for one
// pass.
template <class F>
auto from_generator(F f) {
  static_assert(
      requires { typename generated<F>::type::value_type; },
      "from_generator takes a copyable function of nothing, or of a std::stop_token, that returns a std::optional");
  return detail::from_generator(std::move(f),
                                std::type_identity<element_from<typename generated<F>::type::value_type>>{});
}

namespace detail {

stage_ptr zip(stage_ptr left, stage_ptr right);

}  // namespace detail

// A dataset whose element i has the components of a's element i and then those of b's. It ends with the shorter one. A
// pass opens the pass of the same number of each.
//
//   auto both = data::zip(data::from_tensors(images), data::from_tensors(labels));
//
// Shuffle what was zipped: datasets that are shuffled apart no longer match, unless their seeds and buffers are equal.
template <element... As, element... Bs>
dataset<As..., Bs...> zip(const dataset<As...>& a, const dataset<Bs...>& b) {
  return dataset<As..., Bs...>(detail::zip(a.last(), b.last()));
}
// Puts three or more datasets side by side, from left to right.
template <class A, class B, class C, class... More>
auto zip(const A& a, const B& b, const C& c, const More&... more) {
  return zip(zip(a, b), c, more...);
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/sources.ipp>
#endif

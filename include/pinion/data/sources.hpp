// Where the elements of a dataset come from: tensors, numbers, a function, several datasets.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/dataset.hpp>
#include <pinion/data/generator.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

stage_ptr slices(any_element tensors);

}  // namespace detail

// The slices of dimension 0: element i is (a[i], b[i], ...). Shares the tensors' memory. Up to the first map, filter,
// cache or prefetch only row numbers travel, so a batch is one copy of its rows. Scalars, or tensors of different
// length: invalid_argument.
template <element... Ts>
requires(sizeof...(Ts) > 0) dataset<Ts...> from_tensors(tensor<Ts>... tensors) {
  return dataset<Ts...>(detail::slices({tensors.untyped()...}));
}

// The numbers first, first + step, ... below `end` (above it where step is negative), as scalars of int64.
dataset<std::int64_t> range(std::int64_t first, std::int64_t end, std::int64_t step = 1);
inline dataset<std::int64_t> range(std::int64_t count) {
  return range(0, count);
}

namespace detail {

template <class F, element... Ts>
dataset<Ts...> from_generator(F f, std::type_identity<element_of<Ts...>>) {
  return dataset<Ts...>(generate(generating(std::move(f))));
}

}  // namespace detail

// What f() returns, until it returns nothing: f gives a std::optional of a tensor, a number or a tuple of such. Each
// pass calls a copy of f as it was given, so a mutable lambda starts anew. A function that waits may take a
// std::stop_token, requested when the pass is destroyed while a thread of it waits in f.
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

// Element i of each, side by side; ends with the shortest.
template <element... As, element... Bs>
dataset<As..., Bs...> zip(const dataset<As...>& a, const dataset<Bs...>& b) {
  return dataset<As..., Bs...>(detail::zip(a.last(), b.last()));
}
template <class A, class B, class C, class... More>
auto zip(const A& a, const B& b, const C& c, const More&... more) {
  return zip(zip(a, b), c, more...);
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/sources.ipp>
#endif

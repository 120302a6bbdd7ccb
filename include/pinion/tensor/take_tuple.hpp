// Tensors in a list without their types, as a tuple of typed ones.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// A std::tuple of tensor<T>... of the first of some any_tensors: taken out of the list, or shared where it is const.
// Throws invalid_argument for one of another dtype. Requires: there are as many.
template <class Tuple, class List>
Tuple take_tuple([[maybe_unused]] List& values) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Tuple{std::tuple_element_t<I, Tuple>(std::move(values[I]))...};
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
}

}}  // namespace pinion::v0

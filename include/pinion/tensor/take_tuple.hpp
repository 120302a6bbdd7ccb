// Untyped tensors of a list, as a tuple of typed ones.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// Makes a std::tuple of tensor<T>... from the first tensors of a list. They are moved out of it, or shared if the
// list is const. Throws invalid_argument if a dtype differs. Requires: the list has as many tensors.
template <class Tuple, class List>
Tuple take_tuple([[maybe_unused]] List& values) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Tuple{std::tuple_element_t<I, Tuple>(std::move(values[I]))...};
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
}

}}  // namespace pinion::v0

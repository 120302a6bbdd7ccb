// What an element of a dataset is, and which dataset a function's result makes.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <pinion/tensor/tensor.hpp>

namespace pinion::inline v0::data {

// One tensor for each component. Copies share memory until one is written to.
template <element... Ts>
using element_of = std::tuple<tensor<Ts>...>;

// How a value that a function returns is an element: a tensor, a single value, or a tuple or pair of such.
template <class R>
struct as_component {};
template <element T>
struct as_component<tensor<T>> {
  using type = T;
};
template <element T>
struct as_component<T> {
  using type = T;
};

template <class R>
struct as_element {};
template <class R>
requires requires {
  typename as_component<R>::type;
}
struct as_element<R> {
  using type = std::tuple<tensor<typename as_component<R>::type>>;
};
template <class... Rs>
requires requires {
  typename std::tuple<typename as_component<Rs>::type...>;
}
struct as_element<std::tuple<Rs...>> {
  using type = std::tuple<tensor<typename as_component<Rs>::type>...>;
};
template <class A, class B>
struct as_element<std::pair<A, B>> : as_element<std::tuple<A, B>> {};

// A value that can be an element of a dataset.
template <class R>
concept elemental = requires {
  typename as_element<R>::type;
};

template <elemental R>
using element_from = typename as_element<R>::type;

template <elemental R>
element_from<R> to_element(R&& value) {
  if constexpr (requires { typename as_component<R>::type; })
    return element_from<R>(tensor<typename as_component<R>::type>(std::move(value)));
  else
    return std::apply(
        [](auto&&... parts) {
          return element_from<R>(
              tensor<typename as_component<std::remove_cvref_t<decltype(parts)>>::type>(std::move(parts))...);
        },
        std::move(value));
}

}  // namespace pinion::inline v0::data

// The elements of a dataset, and the element that a function's result makes.
//
//   element_of<float, int>                        std::tuple<tensor<float>, tensor<int>>
//   element_from<tensor<float>>                   std::tuple<tensor<float>>
//   element_from<std::pair<tensor<float>, int>>   std::tuple<tensor<float>, tensor<int>>
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// An element with its types: one tensor for each component. Copies share memory until one of them is written to. A
// scalar component is a tensor of shape [].
template <element... Ts>
using element_of = std::tuple<tensor<Ts>...>;

// An element without its types, as the stages of a dataset hand it on.
using any_element = std::vector<any_tensor>;

// The component that a value makes: a tensor stands for itself, a single value for a scalar tensor. A type that is none
// has no member `type`, which the concept elemental asks for.
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

// The element that a value makes: one component, or a tuple or pair of components. A number alone counts as a tuple of
// one.
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

// A value that can be an element of a dataset. Vectors and spans are none: make a tensor of them by tensor<T>::of.
template <class R>
concept elemental = requires {
  typename as_element<R>::type;
};

// The element type that a value makes.
template <elemental R>
using element_from = typename as_element<R>::type;

namespace detail {

// Adds a component to an element.
template <element T>
void add(any_element& to, const tensor<T>& part) {
  to.push_back(part.untyped());
}
template <element T>
void add(any_element& to, const T& part) {
  to.push_back(tensor<T>(part).untyped());
}

}  // namespace detail

// Makes `to` the element of a function's result. Requires: `to` is not read by another thread.
template <elemental R>
void assign(any_element& to, const R& value) {
  to.clear();
  if constexpr (requires { typename as_component<R>::type; })
    detail::add(to, value);
  else
    std::apply([&](const auto&... parts) { (detail::add(to, parts), ...); }, value);
}

}}}  // namespace pinion::v0::data

// A user's function on elements, kept without its type, so that the stages need no templates.
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/element.hpp>
#include <pinion/tensor/take_tuple.hpp>

namespace pinion { inline namespace v0 { namespace data {

// A function that takes the tensors of an element and returns an element. It is called as const. A lambda that is
// `mutable` does not meet it.
template <class F, class... Ts>
concept element_function = std::invocable<const F&, tensor<Ts>...> &&
    elemental<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

// The element type that a function's result makes.
template <class F, class... Ts>
using mapped_element = element_from<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

// A function on elements without its type. A value; copies share the function, which is called as const, possibly by
// several threads at once. An exception of the function ends the pass, and comes out of its next().
struct any_function {
  std::shared_ptr<const void> function;
  // Changes the element, and returns true, for map; tells whether the element stays, for filter.
  bool (*call)(const void* function, any_element& element);

  bool operator()(any_element& element) const { return call(function.get(), element); }
};

namespace detail {

// Owns an object of any type by the function that destroys it.
std::shared_ptr<void> own(void* object, void (*destroy)(void*));

template <class F>
std::shared_ptr<void> own(F f) {
  return own(new F(std::move(f)), [](void* object) { delete static_cast<F*>(object); });
}

}  // namespace detail

// The function of a map: it replaces an element by f(its tensors). Requires: the element has tensors of the types Ts.
template <element... Ts, class F>
any_function mapping(F f) {
  return {detail::own(std::move(f)), [](const void* function, any_element& element) {
            assign(element, std::apply(*static_cast<const F*>(function), take_tuple<element_of<Ts...>>(element)));
            return true;
          }};
}

// The function of a filter: it tells whether an element stays. Tensors are handed to it as const, and share the
// element's memory.
template <element... Ts, class F>
any_function filtering(F keep) {
  return {detail::own(std::move(keep)), [](const void* function, any_element& element) -> bool {
            const auto tensors = take_tuple<element_of<Ts...>>(std::as_const(element));
            return std::apply(*static_cast<const F*>(function), tensors);
          }};
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/apply.ipp>
#endif

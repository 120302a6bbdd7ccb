// A function of the user's on elements, its type left behind where the dataset is made.
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

// A function that takes an element's tensors and gives an element.
template <class F, class... Ts>
concept element_function = std::invocable<const F&, tensor<Ts>...> &&
    elemental<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

template <class F, class... Ts>
using mapped_element = element_from<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

// Copies share the function, which is called as const.
struct any_function {
  std::shared_ptr<const void> function;
  bool (*call)(const void* function, any_element& element);  // a map's changes the element; a filter's says if it stays

  bool operator()(any_element& element) const { return call(function.get(), element); }
};

namespace detail {

std::shared_ptr<void> own(void* object, void (*destroy)(void*));

template <class F>
std::shared_ptr<void> own(F f) {
  return own(new F(std::move(f)), [](void* object) { delete static_cast<F*>(object); });
}

}  // namespace detail

template <element... Ts, class F>
any_function mapping(F f) {
  return {detail::own(std::move(f)), [](const void* function, any_element& element) {
            assign(element, std::apply(*static_cast<const F*>(function), take_tuple<element_of<Ts...>>(element)));
            return true;
          }};
}

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

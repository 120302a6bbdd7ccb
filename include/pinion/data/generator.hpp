// A user's function that generates elements, kept without its type.
#pragma once

#include <concepts>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/forward.hpp>

namespace pinion { inline namespace v0 { namespace data {

// The type that a generator returns, a std::optional of an element. A generator takes nothing, or a stop token by which
// it can end a long wait. For example, the type is std::optional<int>, std::optional<pn::tensor<float>> or
// std::optional<std::tuple<pn::tensor<float>, int>>.
template <class F>
struct generated {};
template <class F>
requires std::invocable<F&>
struct generated<F> : std::remove_cvref<std::invoke_result_t<F&>> {
};
template <class F>
requires(std::invocable<F&, std::stop_token> && !std::invocable<F&>) struct generated<F>
    : std::remove_cvref<std::invoke_result_t<F&, std::stop_token>> {
};

// A generator without its type. A value; copies share the function. It is never called itself: each pass calls a copy
// of its own. The function is copied once for each pass, in the state in which it was given.
struct any_generator {
  std::shared_ptr<const void> function;
  std::shared_ptr<void> (*copy)(const void* function);
  bool (*call)(void* copy, const std::stop_token& stop, any_element& to);  // returns false at the end
};

// Takes a generator's type away. F is copied, so captures by reference must outlive all passes.
template <class F>
any_generator generating(F f) {
  return {detail::own(std::move(f)),
          [](const void* function) { return detail::own(F(*static_cast<const F*>(function))); },
          [](void* copy, [[maybe_unused]] const std::stop_token& stop, any_element& to) {
            auto made = [&] {
              if constexpr (std::invocable<F&>)
                return (*static_cast<F*>(copy))();
              else
                return (*static_cast<F*>(copy))(stop);
            }();
            if (made) assign(to, *made);
            return bool(made);
          }};
}

// A stage whose passes call a copy of a generator each. An exception of the generator ends the pass that called it.
stage_ptr generate(any_generator from);

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/generator.ipp>
#endif

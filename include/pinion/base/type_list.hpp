// A list of types, from which tables are built.
#pragma once

namespace pinion { inline namespace v0 {

// A list of types, in order. It has no state.
template <class... T>
struct type_list {
  static constexpr int size = sizeof...(T);
};

// Calls f.template operator()<T>() for each type in order.
template <class... T, class F>
constexpr void for_each_type(type_list<T...>, F&& f) {
  (f.template operator()<T>(), ...);
}

}}  // namespace pinion::v0

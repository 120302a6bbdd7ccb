// Types as a list to build tables from.
#pragma once

namespace pinion { inline namespace v0 {

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

// A list of types, from which tables are built.
#pragma once

namespace pinion { inline namespace v0 {

// A list of types, in order. It has no state.
template <class... T>
struct type_list {
  static constexpr int size = sizeof...(T);
};

// Calls f.template operator()<T>() for each type in order. Compilers nest a fold expression as deep as the list is
// long, and clang ends at 256, so this is no fold.
template <class... T, class F>
constexpr void for_each_type(type_list<T...>, F&& f) {
  const bool called[] = {true, (f.template operator()<T>(), true)...};
  static_cast<void>(called);
}

}}  // namespace pinion::v0

// Text as a template argument: a string literal in a signature, a pack of characters in a type.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace pinion { inline namespace v0 {

template <std::size_t N>
struct fixed_string {
  char s[N]{};
  constexpr fixed_string(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) s[i] = text[i];
  }
};

// Types hold packs, never arrays: nvcc 13 prints a class-type template argument that holds an array as something it
// cannot read back.
template <char... C>
struct chars {
  static constexpr char s[]{C..., '\0'};
  static constexpr std::string_view view() { return {s, sizeof...(C)}; }
};

template <fixed_string S>
constexpr auto as_chars() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    constexpr auto text = S;  // read through a local: nvcc 13 prints values read from S itself as an undeclared name
    return chars<text.s[I]...>{};
  }
  (std::make_index_sequence<sizeof(S.s) - 1>{});
}

}}  // namespace pinion::v0

// Text as a template argument: a string literal in a signature, and a pack of characters in a type.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace pinion { inline namespace v0 {

// A string literal as a template argument.
template <std::size_t N>
struct fixed_string {
  char s[N]{};
  constexpr fixed_string(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) s[i] = text[i];
  }
};

// A text as a pack of characters. Types hold packs and never arrays, because nvcc 13 prints a template argument of a
// class type that holds an array in a form that it cannot read back.
template <char... C>
struct chars {
  static constexpr char s[]{C..., '\0'};
  static constexpr std::string_view view() { return {s, sizeof...(C)}; }
};

// The pack of a string literal's characters.
template <fixed_string S>
constexpr auto as_chars() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    constexpr auto text = S;  // read through a local: nvcc 13 prints values read from S itself as an undeclared name
    return chars<text.s[I]...>{};
  }
  (std::make_index_sequence<sizeof(S.s) - 1>{});
}

}}  // namespace pinion::v0

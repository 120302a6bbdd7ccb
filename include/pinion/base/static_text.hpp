// Sentences that the compiler puts together, for errors that it shows as a type: refused<{"job worker has tasks
// 0..2"}>.
#pragma once

#include <cstddef>
#include <string_view>

#include <pinion/base/fixed_string.hpp>

namespace pinion { inline namespace v0 {

// A text in a constant expression, of 199 characters at most; the rest is cut off.
struct static_text {
  char s[200]{};
  std::size_t size = 0;

  constexpr static_text& operator<<(std::string_view text) {
    for (const char c : text)
      if (size + 1 < sizeof(s)) s[size++] = c;
    return *this;
  }
  constexpr static_text& operator<<(int number) {
    if (number >= 10) *this << number / 10;
    const char digit[] = {static_cast<char>('0' + number % 10), '\0'};
    return *this << std::string_view(digit, 1);
  }
};

// The text that a function object without captures returns, as a template argument.
template <class Make>
constexpr auto as_fixed_string() {
  constexpr static_text text = Make{}();
  char exact[text.size + 1]{};
  for (std::size_t i = 0; i < text.size; ++i) exact[i] = text.s[i];
  return fixed_string<text.size + 1>(exact);
}

// A static_assert on this fails, and the compiler prints the sentence. (clang 14 prints its characters as numbers; the
// types around it tell the same there.)
template <fixed_string Sentence>
inline constexpr bool refused = false;

}}  // namespace pinion::v0

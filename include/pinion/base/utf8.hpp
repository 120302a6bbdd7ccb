// UTF-8, in which text must be that is written into files for others.
#pragma once

#include <cstddef>
#include <string_view>

namespace pinion { inline namespace v0 {

namespace detail {

// The length of the well-formed sequence at the beginning of a text; 0 if there is none. Source: Unicode 15, table 3-7.
constexpr std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second >= 0xa0;
    return !overlong && !surrogate && follows(1) && follows(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool overlong = first == 0xf0 && second < 0x90, beyond = first == 0xf4 && second >= 0x90;
  return !overlong && !beyond && follows(1) && follows(2) && follows(3) ? 4 : 0;
}

// Cuts the first character off a text: a well-formed sequence, or one byte that begins none. Requires: it is not empty.
constexpr std::string_view next_character(std::string_view& text) {
  const std::size_t found = utf8_sequence(text), n = found == 0 ? 1 : found;
  const std::string_view first = text.substr(0, n);
  text.remove_prefix(n);
  return first;
}

// The code point of a well-formed sequence of two or three bytes.
constexpr unsigned code_point(std::string_view sequence) {
  const auto bits = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]) & 0x3fu; };
  return sequence.size() == 2 ? (bits(0) & 0x1f) << 6 | bits(1) : (bits(0) & 0x0f) << 12 | bits(1) << 6 | bits(2);
}

// Is a well-formed sequence a control character above U+007F, or does it end a line or turn the direction of writing?
constexpr bool gives_orders(std::string_view sequence) {
  if (sequence.size() != 2 && sequence.size() != 3) return false;
  const unsigned code = code_point(sequence);
  return (code >= 0x80 && code <= 0x9f) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace detail

// True if a text consists of well-formed UTF-8 sequences.
constexpr bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = detail::utf8_sequence(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

}}  // namespace pinion::v0

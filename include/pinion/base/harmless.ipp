// Bodies of <pinion/base/harmless.hpp>.
#pragma once

#include <pinion/base/harmless.hpp>
#include <pinion/base/utf8.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

inline std::string in_hex(std::string_view lead, unsigned value, int digits) {
  std::string text(lead);
  for (int at = 4 * (digits - 1); at >= 0; at -= 4) text += "0123456789abcdef"[value >> at & 0xf];
  return text;
}

inline void append_ascii(std::string& to, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n')
    to += "\\n";
  else if (c == '\r')
    to += "\\r";
  else if (c == '\t')
    to += "\\t";
  else if (byte < 0x20 || byte == 0x7f)
    to += in_hex("\\x", byte, 2);
  else
    to += c;
}

// Appends one character; `sequence` is a byte, or a well-formed sequence of several.
inline void append_harmless(std::string& to, std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (first < 0x80)
    append_ascii(to, sequence[0]);
  else if (sequence.size() == 1)
    to += in_hex("\\x", first, 2);
  else if (gives_orders(sequence))
    to += in_hex("\\u", code_point(sequence), 4);
  else
    to += sequence;
}

}  // namespace detail

PINION_DECL std::string harmless(std::string_view text, std::size_t most) {
  constexpr std::string_view more = "...";
  std::string shown;
  std::size_t before_more = 0;  // the bytes of it behind which there is room for the dots
  while (!text.empty()) {
    detail::append_harmless(shown, detail::next_character(text));
    if (shown.size() > most) return shown.substr(0, before_more).append(more);
    if (shown.size() + more.size() <= most) before_more = shown.size();
  }
  return shown;
}

}}  // namespace pinion::v0

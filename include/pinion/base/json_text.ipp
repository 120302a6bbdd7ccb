// Bodies of <pinion/base/json_text.hpp>.
#pragma once

#include <fmt/format.h>

#include <pinion/base/json_text.hpp>
#include <pinion/base/utf8.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// A byte that is no UTF-8, or a well-formed sequence, as a part of a JSON string.
inline std::string json_character(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (first == '"' || first == '\\') return std::string("\\").append(sequence);
  if (first < 0x20 || first == '<' || first == 0x7f) return fmt::format("\\u{:04x}", first);
  if (first >= 0x80 && sequence.size() == 1) return "\\ufffd";
  if (gives_orders(sequence)) return fmt::format("\\u{:04x}", code_point(sequence));
  return std::string(sequence);
}

}  // namespace detail

PINION_DECL std::string json_quoted(std::string_view text) {
  std::string s = "\"";
  while (!text.empty()) s += detail::json_character(detail::next_character(text));
  return s + "\"";
}

}}  // namespace pinion::v0

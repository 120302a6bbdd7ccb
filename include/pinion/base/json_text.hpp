// Pieces of JSON text, for files of a fixed form that do not need a JSON library.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace pinion { inline namespace v0 {

// A text as a JSON string. "<" is escaped too, so that the string may be part of a web page. Requires: the text is
// UTF-8.
inline std::string json_quoted(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      s += std::string("\\") + c;
    else if (byte < 0x20 || c == '<' || c == 0x7f)
      s += fmt::format("\\u{:04x}", byte);
    else
      s += c;
  }
  return s + "\"";
}

// A JSON list with one item on each line; write(item) returns the text of an item.
template <class Items, class Write>
std::string json_list(const Items& items, const Write& write) {
  std::string s = "[";
  for (const auto& item : items) s += (s.size() > 1 ? ",\n  " : "\n  ") + write(item);
  return s + (s.size() > 1 ? "\n ]" : "]");
}

}}  // namespace pinion::v0

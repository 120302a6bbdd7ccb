// Pieces of JSON text, for files of a fixed form that do not need a JSON library.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// A text, which may be anybody's, as a JSON string. What gives orders to a terminal is escaped (see harmless()), and so
// is "<", so that the string may be part of a web page. U+FFFD stands for each byte that is no UTF-8.
std::string json_quoted(std::string_view text);

// A JSON list with one item on each line; write(item) returns the text of an item.
template <class Items, class Write>
std::string json_list(const Items& items, const Write& write) {
  std::string s = "[";
  for (const auto& item : items) s += (s.size() > 1 ? ",\n  " : "\n  ") + write(item);
  return s + (s.size() > 1 ? "\n ]" : "]");
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/json_text.ipp>
#endif

// The text of a length of time, for messages.
#pragma once

#include <chrono>
#include <string>

namespace pinion { inline namespace v0 {

// Returns a time in seconds, with a tenth, such as "3.1 s".
inline std::string seconds_text(std::chrono::steady_clock::duration d) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(d).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}}  // namespace pinion::v0

// The line of a user's source that made a node or opened a scope.
#pragma once

#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// A file and a line. A value that refers to string literals only. It stands in for std::source_location, which clang 14
// does not have. As a default argument, current() names the caller's line.
struct source_location {
  const char* file = "";
  // The number of the line, from 1; 0: not known.
  unsigned line = 0;

  // The line of the call. As a default argument, that is the line of the caller.
  static constexpr source_location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
  // True unless it was made without a line.
  constexpr bool known() const { return line != 0; }
};

// "file:line", or "" if it is not known.
std::string to_string(source_location where);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/source_location.ipp>
#endif

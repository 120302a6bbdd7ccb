// The place in a user's source that made a node or opened a scope.
#pragma once

#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// A value; refers to string literals only. As std::source_location, which clang 14 does not have.
struct source_location {
  const char* file = "";
  unsigned line = 0;

  static constexpr source_location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr bool known() const { return line != 0; }
};

std::string to_string(source_location where);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/source_location.ipp>
#endif

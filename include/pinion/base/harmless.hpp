// Text of others, made harmless where it leaves: in logs, errors that are shown, reports and metrics.
//
//   std::fprintf(stderr, "%s\n", pn::harmless(name_that_a_stranger_chose).c_str());
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The bytes of a text that harmless() shows unless it is told otherwise.
inline constexpr std::size_t most_shown = 4096;

// Returns a text as a part of one line that orders a terminal to do nothing. Control characters (U+0000 to U+001F,
// U+007F to U+009F), line and paragraph separators, marks and overrides of the direction of writing, and bytes that are
// no UTF-8 become visible: "\n", "\x1b", "\u009b", "\u202e", "\xff". Of a text that takes more than `most` bytes its
// beginning is returned, and "..."; no character is cut. A text that was made harmless stays as it is.
std::string harmless(std::string_view text, std::size_t most = most_shown);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/harmless.ipp>
#endif

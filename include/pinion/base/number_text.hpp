// The text of a real number, for messages.
#pragma once

#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Returns the shortest text that is read as the number, such as "0.5", in any locale.
std::string number_text(double number);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/number_text.ipp>
#endif

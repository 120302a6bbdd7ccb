// The names of values that move from one device to another, and the parts of such a name.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Returns "W/read:0;/job:ps/…/device:CPU:0;/job:worker/…/device:CPU:0": the value, its source, its destination. `what`
// is the number of an output, or "done" for a control edge, and for several "all before NODE:done".
std::string transfer_key(std::string_view node, std::string_view what, std::string_view from, std::string_view to);

// These return the parts of a key. Requires: it was made by transfer_key().
constexpr std::string_view destination_of(std::string_view key) {
  return key.substr(key.rfind(';') + 1);
}
constexpr std::string_view source_of(std::string_view key) {
  key = key.substr(0, key.rfind(';'));
  return key.substr(key.rfind(';') + 1);
}
constexpr std::string_view value_of(std::string_view key) {
  key = key.substr(0, key.rfind(';'));
  return key.substr(0, key.rfind(';'));
}

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/transfer_key.ipp>
#endif

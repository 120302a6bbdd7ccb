// What a value is called on its way from one device to another, and what its name says.
#pragma once

#include <string>
#include <string_view>

namespace pinion::inline v0::runtime {

// "W/read:0;/job:ps/…/device:CPU:0;/job:worker/…/device:CPU:0": what, from where, to where. `what` is an output's
// number, or "done" for a control edge.
inline std::string transfer_key(std::string_view node, std::string_view what, std::string_view from,
                                std::string_view to) {
  std::string key;
  key.reserve(node.size() + what.size() + from.size() + to.size() + 3);
  key.append(node).append(":").append(what).append(";").append(from).append(";").append(to);
  return key;
}

// Requires of all: a key.
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

}  // namespace pinion::inline v0::runtime

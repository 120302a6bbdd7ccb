// Bodies of <pinion/spec/device_field.hpp>.
#pragma once

#include <string>

#include <pinion/base/error.hpp>
#include <pinion/base/near_name.hpp>
#include <pinion/spec/device_field.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void bad_device::unknown_field(culprit at, sentence why) {
  constexpr std::string_view keys[] = {"job", "replica", "task", "device"};
  refuse(at, std::string(why) + did_you_mean(at.found, keys));
}

PINION_DECL void bad_device::refuse(culprit at, sentence why) {
  std::string text = "cannot read '" + std::string(at.found) + "'";
  if (at.found != at.segment) text += " in segment '" + std::string(at.segment) + "'";
  if (!at.text.empty()) text += " of device string '" + std::string(at.text) + "'";
  throw error(errc::invalid_argument, text + ": " + std::string(why)).called_at(to_string(at.where));
}

PINION_DECL void bad_device::refuse(int number, sentence why) {
  const std::string found = std::to_string(number);
  refuse({.text = {}, .segment = found, .found = found}, why);
}

}}  // namespace pinion::v0

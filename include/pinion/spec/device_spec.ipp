// Bodies of <pinion/spec/device_spec.hpp>.
#pragma once

#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(const device_spec& spec) {
  std::string text;
  if (!spec.job().empty()) text.append("/job:").append(spec.job());
  if (spec.replica() >= 0) text.append("/replica:").append(std::to_string(spec.replica()));
  if (spec.task() >= 0) text.append("/task:").append(std::to_string(spec.task()));
  if (!spec.type().empty()) text.append("/device:").append(spec.type()).append(spec.index() < 0 ? ":*" : ":");
  if (spec.index() >= 0) text.append(std::to_string(spec.index()));
  return text;
}

}}  // namespace pinion::v0

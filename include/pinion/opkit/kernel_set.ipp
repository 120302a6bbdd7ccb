// Bodies of <pinion/opkit/kernel_set.hpp>.
#pragma once

#include <pinion/opkit/kernel_set.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(const kernel_set& set) {
  std::string text;
  const auto list = [&](std::string_view device_type, dtype_set types) {
    if (types.empty()) return;
    text += std::string(text.empty() ? "on " : "; on ") + std::string(device_type) + " for ";
    bool first = true;
    for (unsigned d = 0; d < detail::dtype_count; ++d) {
      const auto type = static_cast<dtype>(d);
      if (!types.has(type)) continue;
      text += std::string(first ? "" : ", ") + (type == dtype::invalid ? "no value" : std::string(to_string(type)));
      first = false;
    }
  };
  list("CPU", set.cpu);
  list("GPU", set.gpu);
  return text.empty() ? "nowhere" : text;
}

PINION_DECL std::string no_kernel(std::string_view op, const kernel_set& set, dtype type,
                                  std::string_view device_type) {
  const std::string of_type = type == dtype::invalid ? "" : std::string(to_string(type)) + " ";
  const std::string text = std::string(op) + " has no " + of_type + "kernel on " + std::string(device_type);
  if (set.cpu.has(type)) return text + "; there is one on CPU";
  if (set.gpu.has(type)) return text + "; there is one on GPU";
  return text + "; there are kernels " + to_string(set);
}

}}  // namespace pinion::v0

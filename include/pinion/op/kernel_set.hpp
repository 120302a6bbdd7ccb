// Which kernels an op declares: dtypes per device type. Read by the compiler (place<…>) and by the placer.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/dtype.hpp>

namespace pinion::inline v0 {

struct kernel_set {
  dtype_set cpu{};
  dtype_set gpu{};

  constexpr bool has(std::string_view device_type, dtype type) const {
    return device_type == "CPU" ? cpu.has(type) : device_type == "GPU" && gpu.has(type);
  }
};

// "on CPU for float, double; on GPU for float", or "nowhere".
inline std::string to_string(const kernel_set& set) {
  std::string text;
  const auto list = [&](std::string_view device_type, dtype_set types) {
    if (types.empty()) return;
    text += std::string(text.empty() ? "on " : "; on ") + std::string(device_type) + " for ";
    bool first = true;
    for (unsigned d = 1; d <= unsigned(dtype::half); ++d) {
      if (!types.has(static_cast<dtype>(d))) continue;
      text += std::string(first ? "" : ", ") + std::string(to_string(static_cast<dtype>(d)));
      first = false;
    }
  };
  list("CPU", set.cpu);
  list("GPU", set.gpu);
  return text.empty() ? "nowhere" : text;
}

// Why there is none, and what would do: "VariableV2 has no int32 kernel on GPU; there is one on CPU".
inline std::string no_kernel(std::string_view op, const kernel_set& set, dtype type, std::string_view device_type) {
  std::string text =
      std::string(op) + " has no " + std::string(to_string(type)) + " kernel on " + std::string(device_type);
  if (set.cpu.has(type)) return text + "; there is one on CPU";
  if (set.gpu.has(type)) return text + "; there is one on GPU";
  return text + "; there are kernels " + to_string(set);
}

}  // namespace pinion::inline v0

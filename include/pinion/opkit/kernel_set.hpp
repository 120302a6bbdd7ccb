// The kernels that an op declares: a set of dtypes for each type of device. The compiler reads it for place<...>, the
// placer for each node.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>

namespace pinion { inline namespace v0 {

// The dtypes for which an op has kernels, for each type of device. A value, usable in constant expressions:
//
//   static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating, .gpu = {}};
//
// An empty set means that no node of the op can be placed there; a step that asks for it fails with invalid_argument,
// or, with soft placement, is moved to a device type that has a kernel.
struct kernel_set {
  dtype_set cpu{};
  dtype_set gpu{};

  // Tells whether there is a kernel. Device types other than "CPU" and "GPU" have none.
  constexpr bool has(std::string_view device_type, dtype type) const {
    return device_type == "CPU" ? cpu.has(type) : device_type == "GPU" && gpu.has(type);
  }
};

// Lists the set: "on CPU for float, double; on GPU for float", or "nowhere".
std::string to_string(const kernel_set& set);

// The sentence for a kernel that is missing: "VariableV2 has no int32 kernel on GPU; there is one on CPU".
std::string no_kernel(std::string_view op, const kernel_set& set, dtype type, std::string_view device_type);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/kernel_set.ipp>
#endif

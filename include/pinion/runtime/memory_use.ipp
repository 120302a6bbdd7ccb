// Bodies of <pinion/runtime/memory_use.hpp>.
#pragma once

#include <fmt/format.h>

#include <pinion/runtime/memory_use.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(const memory_use& m) {
  const auto megabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
  return fmt::format(
      "variables {:.1f} MB, arenas {:.1f} MB for {:.1f} MB in use at once; the pool of the process {:.1f} MB",
      megabytes(m.variables), megabytes(m.arenas), megabytes(m.live), megabytes(m.pool));
}

}}  // namespace pinion::v0

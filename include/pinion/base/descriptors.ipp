// Bodies of <pinion/base/descriptors.hpp>.
#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include <pinion/base/descriptors.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::uint64_t most_descriptors() {
  rlimit open{};
  const bool is_limited = ::getrlimit(RLIMIT_NOFILE, &open) == 0 && open.rlim_cur != RLIM_INFINITY;
  return is_limited ? open.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

PINION_DECL std::uint64_t open_descriptors() {
  std::error_code failed;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", failed), end; !failed && at != end; at.increment(failed))
    ++count;
  if (failed == std::errc::too_many_files_open) return most_descriptors();  // none is left for the list
  return count > 0 ? count - 1 : 0;                                         // one is of the list itself
}

}}  // namespace pinion::v0

// Bodies of <pinion/base/processors.hpp>.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <pinion/base/processors.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// Two numbers of a group: the time that it may compute in each period. Version 2 has both in a file, of which the first
// may be the word max; version 1 has a file for each, and says -1 for no quota.
inline std::optional<double> quota_in_a_file(const std::string& path) {
  double time = 0, period = 0;
  if (std::ifstream(path) >> time >> period && time > 0 && period > 0) return time / period;
  return std::nullopt;
}
inline std::optional<double> quota_in_two_files(const std::string& folder) {
  double time = 0, period = 0;
  const bool known =
      (std::ifstream(folder + "/cpu.cfs_quota_us") >> time) && (std::ifstream(folder + "/cpu.cfs_period_us") >> period);
  if (known && time > 0 && period > 0) return time / period;
  return std::nullopt;
}

// The least of the quotas of a group and of those around it.
template <class Read>
std::optional<double> least_quota(const std::string& hierarchy, std::string group, const Read& quota_in) {
  std::optional<double> least;
  for (;;) {
    if (const auto one = quota_in(hierarchy + group)) least = std::min(least.value_or(*one), *one);
    if (group.empty()) return least;
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

// A line is "5:cpu,cpuacct:/group", or "0::/group" of version 2.
inline std::optional<double> quota_of_line(std::string_view line, const std::string& mount) {
  const auto first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const std::string kinds(line.substr(first + 1, second - first - 1));
  std::string group(line.substr(second + 1));
  if (group == "/") group.clear();
  if (kinds.empty())
    return least_quota(mount, group, [](const std::string& folder) { return quota_in_a_file(folder + "/cpu.max"); });
  if (("," + kinds + ",").find(",cpu,") == std::string::npos) return std::nullopt;
  for (const std::string& hierarchy : {mount + "/cpu", mount + "/" + kinds})
    if (const auto found = least_quota(hierarchy, group, quota_in_two_files)) return found;
  return std::nullopt;
}

PINION_DECL std::optional<double> quota_of_groups(std::string_view groups, const std::string& mount) {
  std::optional<double> least;
  while (!groups.empty()) {
    const auto end = std::min(groups.find('\n'), groups.size());
    if (const auto one = quota_of_line(groups.substr(0, end), mount)) least = std::min(least.value_or(*one), *one);
    groups.remove_prefix(std::min(end + 1, groups.size()));
  }
  return least;
}

inline int processors_by_affinity() {
#if defined(__linux__)
  cpu_set_t may;
  if (::sched_getaffinity(0, sizeof may, &may) == 0 && CPU_COUNT(&may) > 0) return CPU_COUNT(&may);
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL int usable_processors() {
  const int all = detail::processors_by_affinity();
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  const auto quota = detail::quota_of_groups(groups, "/sys/fs/cgroup");
  return quota ? std::clamp(static_cast<int>(std::ceil(*quota)), 1, all) : all;
}

}}  // namespace pinion::v0

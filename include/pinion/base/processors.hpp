// The number of processors that this process may use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The processors on which the calling thread may run, by its affinity (taskset, a job's cpuset), and no more than the
// quota of its control group pays for (docker --cpus, limits.cpu of Kubernetes); at least 1. A quota of a part of a
// processor counts as a whole one.
int usable_processors();

namespace detail {

// The processors that control groups pay for: the least quota on the way from each group of `groups`, a text like that
// of /proc/self/cgroup, to the root of its hierarchy under `mount`, which is /sys/fs/cgroup. Both versions are read. No
// value: there is no quota.
std::optional<double> quota_of_groups(std::string_view groups, const std::string& mount);

}  // namespace detail
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/processors.ipp>
#endif

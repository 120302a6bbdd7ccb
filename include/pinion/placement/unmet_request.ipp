// Bodies of <pinion/placement/unmet_request.hpp>.
#pragma once

#include <algorithm>
#include <string_view>

#include <pinion/base/near_name.hpp>
#include <pinion/placement/kernel_pool.hpp>
#include <pinion/placement/unmet_request.hpp>

namespace pinion { inline namespace v0 {

// Where both a kernel and a device are missing, the kernel is the more helpful to know.
PINION_DECL unmet_request unmet_finder::find(position i, const device_spec& request) {
  const std::vector<int>& devices = answering(request);
  if (const auto missing = missing_kernel(groups_.of(i), devices)) return *missing;
  const bool is_built_in = request.type() == "CPU" || request.type() == "GPU";
  if (is_built_in && !groups_.facts(i).has_kernel(request.type())) return {unmet_request::no_type};
  return {devices.empty() ? unmet_request::no_device : unmet_request::crowd};
}

inline const std::vector<int>& unmet_finder::answering(const device_spec& request) {
  const auto [at, fresh] = answering_.try_emplace(to_string(request));
  for (std::size_t d = 0; fresh && d < p_.devices.size(); ++d)
    if (is_specification(request, p_.devices[d].spec)) at->second.push_back(static_cast<int>(d));
  return at->second;
}

inline std::optional<unmet_request> unmet_finder::missing_kernel(placement_groups::group g,
                                                                 const std::vector<int>& devices) {
  const auto [at, fresh] = missing_.try_emplace({g, &devices});
  if (!fresh) return at->second;
  for (const int d : devices)
    for (const position m : groups_.members(g))
      if (!groups_.facts(m).has_kernel(groups_.at(m).op, p_.devices[static_cast<std::size_t>(d)]))
        return at->second = unmet_request{unmet_request::lacks_kernel, p_.nodes[m], d};
  return std::nullopt;
}

namespace detail {

// A hint at the job or type that was meant, where no device has the requested one. A type that pinion knows was meant.
inline std::string meant(const placement_problem& p, const device_spec& request) {
  std::vector<std::string_view> jobs, types;
  for (const device_info& d : p.devices) {
    jobs.push_back(d.spec.job());
    types.push_back(d.spec.type());
  }
  const auto is_none_of = [](std::string_view name, const auto& names) {
    return !name.empty() && std::find(names.begin(), names.end(), name) == names.end();
  };
  const bool unknown_type = is_none_of(request.type(), types) && rank_of_type(request.type()) < 0;
  return (is_none_of(request.job(), jobs) ? did_you_mean(request.job(), jobs) : "") +
         (unknown_type ? did_you_mean(request.type(), types) : "");
}

// A sentence why a task that the request fits has no GPUs, where it asks for one.
inline std::string why_no_gpus(const placement_problem& p, const device_spec& request) {
  if (request.type() != "GPU") return "";
  for (const device_info& d : p.devices)
    if (!d.no_gpus.empty() && compatible(d.spec.with_type(""), request.with_type(""))) return "; " + d.no_gpus;
  return "";
}

}  // namespace detail

PINION_DECL std::string to_sentence(const unmet_request& unmet, const placement_problem& p, node_id id,
                                    const device_spec& request) {
  if (unmet.why == unmet_request::crowd) return "those that must stand with it ask for something else";
  if (unmet.why == unmet_request::no_type) return p.ops.missing(p.graph[id], request.type());
  if (unmet.why == unmet_request::lacks_kernel) {
    const node& culprit = p.graph[unmet.culprit];
    return (unmet.culprit == id ? "" : "'" + culprit.name + "', which must stand with it: ") +
           p.ops.missing_on(culprit, p.devices[static_cast<std::size_t>(unmet.device)]);
  }
  std::string devices;
  for (const device_info& d : p.devices) devices += (devices.empty() ? "" : ", ") + d.name;
  return "no such device; there are " + devices + detail::meant(p, request) + detail::why_no_gpus(p, request);
}

}}  // namespace pinion::v0

// Bodies of <pinion/distributed/server/inventory.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <pinion/distributed/server/inventory.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/state/queue.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

inline variable_report row_of(const state::variable& v, const std::string& container, const std::string& name) {
  return {.name = name,
          .container = container,
          .device = v.device(),
          .dtype = v.dtype(),
          .shape = v.shape(),
          .bytes = v.bytes()};
}
inline queue_report row_of(const state::queue& q, const std::string& container, const std::string& name) {
  return {.name = name,
          .container = container,
          .kind = q.about().kind,
          .size = static_cast<std::int64_t>(q.size()),
          .capacity = q.about().capacity,
          .closed = q.closed()};
}

inline void list_devices(const runtime::task& of, task_report& into) {
  const auto used = of.memory_used();
  for (std::size_t i = 0; i < of.devices.size(); ++i) {
    const devices::device& d = *of.devices[i];
    into.devices.push_back({.name = d.name(),
                            .description = d.description(),
                            .memory_used = used[i],
                            .memory_limit = d.memory_limit(),
                            .memory_is_limited = d.memory_is_limited()});
  }
}

}  // namespace detail

PINION_DECL void take_inventory(runtime::task& of, task_report& into) {
  detail::list_devices(of, into);
  for (const auto& [container, name, what] : of.resources.list()) {
    if (const auto* v = dynamic_cast<const state::variable*>(what.get()))
      into.variables.push_back(detail::row_of(*v, container, name));
    else if (const auto* q = dynamic_cast<const state::queue*>(what.get()))
      into.queues.push_back(detail::row_of(*q, container, name));
  }
  into.variable_count = into.variables.size();
  for (const auto& v : into.variables) into.variable_bytes += v.bytes;
  std::stable_sort(into.variables.begin(), into.variables.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
}

}}}  // namespace pinion::v0::distributed

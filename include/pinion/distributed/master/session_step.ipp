// Bodies of <pinion/distributed/master/session_step.hpp>.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include <pinion/distributed/master/session_step.hpp>
#include <pinion/runtime/step/partial.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL const step_part* session_step::part_of(std::string_view task) const {
  const auto at = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.task == task; });
  return at == parts.end() ? nullptr : &*at;
}

namespace detail {

inline bool is_one_of(const any_tensor& t, const output_type& type) {
  return !t.empty() && t.dtype() == type.dtype && fits(t.shape(), type.shape);
}
inline bool is_one_of(const described_value& v, const output_type& type) {
  return v.there && v.dtype == type.dtype && fits(v.shape, type.shape);
}

template <class Value>
void expect_feed(std::size_t number, const Value& v, const output_type& want) {
  if (!is_one_of(v, want))
    throw error(errc::invalid_argument, "feed " + std::to_string(number) + " is not " +
                                            std::string(to_string(want.dtype)) + " " + to_string(want.shape));
}

}  // namespace detail

PINION_DECL void session_step::expect_feed(std::size_t feed, const any_tensor& value) const {
  detail::expect_feed(feed, value, feed_types[feed]);
}

PINION_DECL void session_step::expect_feed(std::size_t feed, const described_value& value) const {
  detail::expect_feed(feed, value, feed_types[feed]);
}

PINION_DECL void session_step::expect_feeds_of(std::uint64_t bytes) const {
  std::uint64_t most = 0;
  for (const output_type& type : feed_types) {
    if (!type.shape.known()) return;  // of any size
    most += static_cast<std::uint64_t>(type.bytes());
  }
  if (bytes > most)
    throw error(errc::invalid_argument,
                "the step takes feeds of " + std::to_string(most) + " bytes, not of " + std::to_string(bytes));
}

PINION_DECL std::uint64_t session_step::memory() const {
  constexpr std::uint64_t of_node = 3072, of_item = 512, of_edge = 32;  // kept to ship it again, rebuilt and compiled
  std::uint64_t sum = 0;
  for (const step_part& p : parts) {
    sum += of_node * p.message.part.nodes.size();
    for (const auto& of_device : p.message.part.parts)
      for (const auto& it : of_device.items)
        sum += of_item + of_edge * (it.inputs.size() + it.after.size() + it.waits.size());
  }
  return sum;
}

namespace detail {

inline int index_in_task(const std::vector<device_info>& devices, int device) {
  const auto task = task_of_device(devices[static_cast<std::size_t>(device)].name);
  return static_cast<int>(std::count_if(devices.begin(), devices.begin() + device,
                                        [&](const device_info& d) { return task_of_device(d.name) == task; }));
}

}  // namespace detail

PINION_DECL session_step cut_by_task(graph_view g, const placement& placed, const runtime::step_signature& signature,
                                     const std::string& home, const session_id& session, std::uint64_t number,
                                     const std::function<std::uint64_t(const std::string&)>& incarnation_of, bool soft,
                                     const runtime::transfer_rules& transfers) {
  const auto& devices = placed.devices();
  const auto at = std::find_if(devices.begin(), devices.end(),
                               [&](const device_info& d) { return d.name == home + "/device:CPU:0"; });
  auto parts = runtime::cut_by_device(g, placed, signature, static_cast<int>(at - devices.begin()), transfers);
  if (transfers.tell_targets) runtime::make_partial(parts, signature, at->name);
  std::map<std::string, std::vector<runtime::partition>> by_task;
  for (auto& part : parts) {
    const std::string task(task_of_device(devices[static_cast<std::size_t>(part.device)].name));
    part.device = detail::index_in_task(devices, part.device);
    by_task[task].push_back(std::move(part));
  }
  session_step made{.number = number, .signature = signature, .feed_types = {}, .parts = {}};
  if (transfers.tell_targets) made.partial_at = at->name;
  for (const auto& fed : signature.feeds) made.feed_types.push_back(g.type_of(fed));
  for (auto& [task, own] : by_task) {
    register_step message{session, number, cut(g, std::move(own)), {}, soft};
    for (const auto& [other, unused] : by_task)
      if (other != task) message.peers.emplace_back(other, incarnation_of(other));
    made.parts.push_back({task, std::move(message)});
  }
  return made;
}

}}}  // namespace pinion::v0::distributed

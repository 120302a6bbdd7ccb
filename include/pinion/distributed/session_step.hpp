// A step of a session, cut by task.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/messages.hpp>
#include <pinion/placement/placement.hpp>

namespace pinion::inline v0::distributed {

struct step_part {
  std::string task;
  register_step message;         // what ships it, and ships it again after the way was cut
  std::uint64_t generation = 0;  // of the way, when it was last shipped
};

struct session_step {
  std::uint64_t number = 0;
  runtime::step_signature signature;
  std::vector<output_type> feed_types;
  std::vector<step_part> parts;
  std::shared_ptr<std::mutex> shipping = std::make_shared<std::mutex>();  // held while they are shipped again

  const step_part* part_of(std::string_view task) const {
    const auto at = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.task == task; });
    return at == parts.end() ? nullptr : &*at;
  }
};

namespace detail {

inline int index_in_task(const std::vector<device_info>& devices, int device) {
  const auto task = task_of_device(devices[static_cast<std::size_t>(device)].name);
  return static_cast<int>(std::count_if(devices.begin(), devices.begin() + device,
                                        [&](const device_info& d) { return task_of_device(d.name) == task; }));
}

}  // namespace detail

// The parts of a placed step whose feeds and fetches live on the first CPU of task `home`. `incarnation_of` tells in
// which life each task is expected.
template <class Incarnations>
session_step cut_by_task(const graph& g, const placement& placed, const runtime::step_signature& signature,
                         const std::string& home, std::uint64_t session, std::uint64_t number,
                         const Incarnations& incarnation_of, bool soft) {
  const auto& devices = placed.devices();
  const auto at = std::find_if(devices.begin(), devices.end(),
                               [&](const device_info& d) { return d.name == home + "/device:CPU:0"; });
  std::map<std::string, std::vector<runtime::partition>> by_task;
  for (auto& part : runtime::partitioner(g, placed, signature, static_cast<int>(at - devices.begin())).run()) {
    const std::string task(task_of_device(devices[static_cast<std::size_t>(part.device)].name));
    part.device = detail::index_in_task(devices, part.device);
    by_task[task].push_back(std::move(part));
  }
  session_step made{.number = number, .signature = signature, .feed_types = {}, .parts = {}};
  for (const auto& fed : signature.feeds) made.feed_types.push_back(g.type_of(fed));
  for (auto& [task, own] : by_task) {
    register_step message{session, number, cut(g, std::move(own)), {}, soft};
    for (const auto& [other, unused] : by_task)
      if (other != task) message.peers.emplace_back(other, incarnation_of(other));
    made.parts.push_back({task, std::move(message)});
  }
  return made;
}

}  // namespace pinion::inline v0::distributed

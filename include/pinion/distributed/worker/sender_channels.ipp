// Bodies of <pinion/distributed/worker/sender_channels.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/worker/sender_channels.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void sender_channels::add(const rpc::peer& who, time_point now) {
  of_task_[who.name].emplace(who.channel, now);
  ++of_sender_[early_values::sender_of(who)];
}

PINION_DECL time_point sender_channels::since(const std::string& task) const {
  auto first = time_point::max();
  if (const auto known = of_task_.find(task); known != of_task_.end())
    for (const auto& [channel, since] : known->second) first = std::min(first, since);
  return first;
}

PINION_DECL sender_channels::removed sender_channels::remove(const rpc::peer& who) {
  const auto known = of_task_.find(who.name);
  if (known == of_task_.end() || known->second.erase(who.channel) == 0) return removed::none;
  if (known->second.empty()) of_task_.erase(known);
  const auto others = of_sender_.find(early_values::sender_of(who));
  if (others == of_sender_.end() || --others->second > 0) return removed::one;
  of_sender_.erase(others);
  return removed::last_of_sender;
}

}}}  // namespace pinion::v0::distributed

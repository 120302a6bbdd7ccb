// Bodies of <pinion/distributed/worker/unsettled_parts.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/distributed/worker/unsettled_parts.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void unsettled_parts::keep(const run_id& run, part what) {
  parts::node_type oldest;
  std::lock_guard hold(mutex_);
  const auto of_the_same = [&](const auto& other) { return other.second.channel == what.channel; };
  if (what.channel != 0 && std::count_if(parts_.begin(), parts_.end(), of_the_same) >= most)
    oldest = parts_.extract(std::find_if(parts_.begin(), parts_.end(), of_the_same));
  parts_.emplace(run, std::move(what));
}

PINION_DECL unsettled_parts::part unsettled_parts::settle(const run_id& run) {
  std::lock_guard hold(mutex_);
  const auto taken = parts_.extract(run);
  return taken ? std::move(taken.mapped()) : part();
}

PINION_DECL void unsettled_parts::cancel(const run_id& run, cancellation::reason why) {
  if (const part taken = settle(run); taken.holds) taken.holds->cancel(why);
}

PINION_DECL void unsettled_parts::cancel_if(const which& these, cancellation::reason why) {
  for (const auto& [run, one] : taken_if(these)) one.holds->cancel(why);
}

PINION_DECL std::size_t unsettled_parts::size() const {
  std::lock_guard hold(mutex_);
  return parts_.size();
}

PINION_DECL unsettled_parts::parts unsettled_parts::taken_if(const which& these) {
  parts all;
  std::lock_guard hold(mutex_);
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto one = at++;
    if (these(one->first, one->second)) all.insert(parts_.extract(one));
  }
  return all;
}

}}}  // namespace pinion::v0::distributed

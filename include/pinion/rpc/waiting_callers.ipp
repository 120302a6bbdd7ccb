// Bodies of <pinion/rpc/waiting_callers.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/rpc/task_state.hpp>
#include <pinion/rpc/waiting_callers.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void waiting_callers::add(time_point now, std::optional<time_point> until, completion<> done) {
  all_.push_back({now, until, std::move(done)});
}

PINION_DECL time_point waiting_callers::first_deadline() const {
  auto first = time_point::max();
  for (const caller& c : all_) first = std::min(first, c.until.value_or(first));
  return first;
}

PINION_DECL void waiting_callers::end(const outcome<>& how) {
  for (caller& c : std::exchange(all_, {})) static_cast<void>(outcome_of([&] { c.done(how); }));
}

PINION_DECL void waiting_callers::fail_late(time_point now, const std::function<std::string()>& whom) {
  std::vector<caller> late;
  for (std::size_t i = all_.size(); i-- > 0;)
    if (all_[i].until && *all_[i].until <= now) {
      late.push_back(std::move(all_[i]));
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  for (caller& c : late)
    static_cast<void>(outcome_of(
        [&] { c.done(error(errc::deadline_exceeded, "waited " + seconds(now - c.since) + " for " + whom())); }));
}

}}}  // namespace pinion::v0::rpc

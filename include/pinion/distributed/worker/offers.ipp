// Bodies of <pinion/distributed/worker/offers.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/wire/values.hpp>
#include <pinion/distributed/worker/offers.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL bool offers::add(const run_id& run, const transfer_key& key, std::string_view to, any_tensor value) {
  constexpr std::uint64_t of_any = 1024;  // of a value, however short
  const std::uint64_t bytes = of_any + weight_of(value);
  const auto waits = bytes_.find(to);
  if (waits != bytes_.end() && waits->second + bytes > most_) return false;
  const std::string task(to);
  if (runs_[run].try_emplace(key, offer{std::move(value), task, bytes}).second) bytes_[task] += bytes;
  return true;
}

PINION_DECL any_tensor offers::take(const run_id& run, const transfer_key& key) {
  const auto at = runs_.find(run);
  if (at == runs_.end()) return {};
  auto taken = at->second.extract(key);
  if (at->second.empty()) runs_.erase(at);
  if (!taken) return {};
  uncount(taken.mapped());
  return std::move(taken.mapped().value);
}

PINION_DECL void offers::uncount(const offer& gone) {
  const auto waits = bytes_.find(gone.to);
  if ((waits->second -= gone.bytes) == 0) bytes_.erase(waits);
}

PINION_DECL void offers::forget(const run_id& run) {
  const auto gone = runs_.extract(run);
  if (!gone) return;
  for (const auto& [key, value] : gone.mapped()) uncount(value);
}

PINION_DECL void offers::forget_session(const session_id& session) {
  for (auto at = runs_.lower_bound({session}); at != runs_.end() && at->first.session == session; at = runs_.erase(at))
    for (const auto& [key, value] : at->second) uncount(value);
}

PINION_DECL void offers::forget_task(const std::string& task) {
  for (auto& [run, values] : runs_)
    std::erase_if(values, [&](const auto& value) {
      const bool goes = value.second.to == task;
      if (goes) uncount(value.second);
      return goes;
    });
  std::erase_if(runs_, [](const auto& of) { return of.second.empty(); });
}

PINION_DECL std::size_t offers::count() const {
  std::size_t n = 0;
  for (const auto& [run, values] : runs_) n += values.size();
  return n;
}

}}}  // namespace pinion::v0::distributed

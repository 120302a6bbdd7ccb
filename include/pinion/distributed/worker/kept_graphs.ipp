// Bodies of <pinion/distributed/worker/kept_graphs.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/worker/kept_graphs.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<const void> kept_graphs::found(const name& of) {
  std::lock_guard hold(mutex_);
  const auto at = all_.find(of);
  if (at == all_.end()) return nullptr;
  at->second.used = ++uses_;
  return at->second.what;
}

PINION_DECL void kept_graphs::put(const name& of, entry what) {
  if (what.memory > most_bytes_) return;
  std::vector<entry> gone;  // freed without the lock
  std::lock_guard hold(mutex_);
  what.used = ++uses_;
  const std::uint64_t memory = what.memory;
  if (!all_.try_emplace(of, std::move(what)).second) return;
  bytes_ += memory;
  gone = make_room();
}

PINION_DECL std::vector<kept_graphs::entry> kept_graphs::make_room() {
  std::vector<entry> gone;
  while (all_.size() > most_ || bytes_ > most_bytes_) {
    const bool many = all_.size() > most_;
    const auto at = oldest_of(sender_with_most([many](const entry& e) { return many ? 1 : e.memory; }));
    bytes_ -= at->second.memory;
    gone.push_back(std::move(at->second));
    all_.erase(at);
  }
  return gone;
}

PINION_DECL std::string kept_graphs::sender_with_most(const std::function<std::uint64_t(const entry&)>& weight) const {
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [of, e] : all_) sums[e.sender] += weight(e);
  return std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

PINION_DECL kept_graphs::table::iterator kept_graphs::oldest_of(const std::string& sender) {
  auto oldest = all_.end();
  for (auto at = all_.begin(); at != all_.end(); ++at)
    if (at->second.sender == sender && (oldest == all_.end() || at->second.used < oldest->second.used)) oldest = at;
  return oldest;
}

PINION_DECL std::size_t kept_graphs::count() const {
  std::lock_guard hold(mutex_);
  return all_.size();
}

PINION_DECL std::uint64_t kept_graphs::bytes() const {
  std::lock_guard hold(mutex_);
  return bytes_;
}

}}}  // namespace pinion::v0::distributed

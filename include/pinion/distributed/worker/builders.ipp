// Bodies of <pinion/distributed/worker/builders.hpp>.
#pragma once

#include <iterator>
#include <memory>
#include <utility>

#include <pinion/distributed/worker/builders.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void builders::add(std::uint64_t key, work what) {
  if (pool_.threads() == 0) return what();
  {
    std::lock_guard hold(mutex_);
    auto& line = lines_[key];
    line.push_back(std::move(what));
    if (line.size() > 1) return;  // the thread that works for the key will do it
  }
  pool_.schedule([this, key] { take_turn(key); }, key);
}

PINION_DECL void builders::drop(std::uint64_t key) {
  std::lock_guard hold(mutex_);
  const auto line = lines_.find(key);
  if (line == lines_.end()) return;
  auto& all = line->second;
  const auto rest = all.begin() + 1;  // the first is under way, or has a thread that comes for it
  auto dropped = std::make_shared<std::deque<work>>(std::move_iterator(rest), std::move_iterator(all.end()));
  all.erase(rest, all.end());
  all.push_back([dropped] { dropped->clear(); });  // they may hold large graphs
}

PINION_DECL bool builders::wait_until_idle(time_point until) {
  std::unique_lock hold(mutex_);
  return idle_.wait_until(hold, until, [this] { return lines_.empty(); });
}

PINION_DECL void builders::take_turn(std::uint64_t key) {
  thread_local const bool modest = let_others_first();
  static_cast<void>(modest);
  work next;
  {
    std::lock_guard hold(mutex_);
    next = std::move(lines_.find(key)->second.front());
  }
  next();
  next = nullptr;
  {
    std::lock_guard hold(mutex_);
    const auto line = lines_.find(key);
    line->second.pop_front();
    if (line->second.empty()) {
      lines_.erase(line);
      if (lines_.empty()) idle_.notify_all();
      return;
    }
  }
  pool_.schedule([this, key] { take_turn(key); }, key);
}

}}}  // namespace pinion::v0::distributed

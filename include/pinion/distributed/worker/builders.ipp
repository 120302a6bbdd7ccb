// Bodies of <pinion/distributed/worker/builders.hpp>.
#pragma once

#include <memory>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/heap.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/distributed/worker/builders.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void builders::add(std::uint64_t key, work what) {
  if (pool_.threads() == 0) return what();
  piece next{std::move(what), std::make_shared<cancellation>()};
  std::lock_guard hold(mutex_);
  const auto [at, fresh] = lines_.try_emplace(key);
  try {
    at->second.waiting.push_back(std::move(next));
    // Otherwise the thread that works for the key, or comes for it, will do it.
    if (fresh) pool_.schedule([this, key] { run_next(key); }, key);
  } catch (...) {
    if (fresh) lines_.erase(at);
    throw;
  }
}

PINION_DECL void builders::drop(std::uint64_t key) {
  std::lock_guard hold(mutex_);
  const auto at = lines_.find(key);
  if (at == lines_.end()) return;
  auto& [waiting, under_way] = at->second;
  if (under_way) under_way->cancel();
  if (waiting.empty()) return;
  const auto dropped = std::make_shared<std::deque<piece>>();
  std::deque<piece> instead;
  instead.push_back({[dropped] { dropped->clear(); }, std::make_shared<cancellation>()});  // they may hold large graphs
  dropped->swap(waiting);
  waiting.swap(instead);
}

PINION_DECL bool builders::wait_until_idle(time_point until) {
  std::unique_lock hold(mutex_);
  return idle_.wait_until(hold, until, [this] { return lines_.empty(); });
}

PINION_DECL void builders::run_next(std::uint64_t key) {
  thread_local const bool ready = (mark_heap(), let_others_first());
  static_cast<void>(ready);
  while (do_next(key))
    if (outcome_of([&] { pool_.schedule([this, key] { run_next(key); }, key); })) return;
}

PINION_DECL bool builders::do_next(std::uint64_t key) {
  piece next;
  {
    std::lock_guard hold(mutex_);
    auto& [waiting, under_way] = lines_.find(key)->second;
    next = std::move(waiting.front());
    waiting.pop_front();
    under_way = next.dropped;
  }
  {
    const cancellable_work until_dropped(*next.dropped);
    next.what();
    next.what = nullptr;
  }
  devices::pool_allocator::of_cpus().leave_own();  // values of graphs, which other threads may let go
  {
    std::lock_guard hold(mutex_);
    const auto at = lines_.find(key);
    at->second.under_way = nullptr;
    if (at->second.waiting.empty()) {
      lines_.erase(at);
      if (lines_.empty()) idle_.notify_all();
      return false;
    }
  }
  return true;
}

}}}  // namespace pinion::v0::distributed

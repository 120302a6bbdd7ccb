// Bodies of <pinion/distributed/server/calls.hpp>.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/heap.hpp>
#include <pinion/distributed/server/calls.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void calls::begin(std::uint64_t client, call what) {
  std::lock_guard hold(mutex_);
  threads_.remove_if([](one& t) {
    if (!t.ended) return false;
    t.thread.join();
    return true;
  });
  line& of = lines_[client];
  if (of.waiting.size() >= most_waiting)
    throw error(errc::resource_exhausted, "more than " + std::to_string(most_waiting) +
                                              " calls of one client wait for a thread (server_config.limits.threads)");
  of.waiting.push_back(std::move(what));
  if (wants_thread()) try {
      start_thread();
    } catch (const std::exception& e) {
      if (running_ > 0) return;  // a thread that ends its call will come for it
      of.waiting.pop_back();
      if (of.waiting.empty()) lines_.erase(client);
      throw error(errc::resource_exhausted, std::string("the system starts no thread for the call: ") + e.what());
    }
}

PINION_DECL bool calls::wants_thread() {
  return !coming_ && running_ < most_ && next() != lines_.end();
}

PINION_DECL void calls::start_thread() {
  one& t = threads_.emplace_back();
  try {
    t.thread = std::thread([this, &t] { work(t); });
  } catch (...) {
    threads_.pop_back();
    throw;
  }
  ++running_;
  coming_ = true;
}

PINION_DECL void calls::work(one& mine) {
  mark_heap();
  std::unique_lock hold(mutex_);
  coming_ = false;
  for (auto at = next(); at != lines_.end(); at = next()) {
    line& of = at->second;
    last_ = at->first;
    ++of.at_work;
    call what = std::move(of.waiting.front());
    of.waiting.pop_front();
    if (wants_thread()) try {
        start_thread();
      } catch (const std::exception&) {  // this thread comes for the others later
      }
    hold.unlock();
    {
      const cancellable_work until_dropped(of.dropped);
      what();
      what = nullptr;
    }
    hold.lock();
    if (--of.at_work == 0 && of.waiting.empty()) lines_.erase(at);
  }
  mine.ended = true;
  --running_;
  ended_.notify_all();
}

PINION_DECL std::map<std::uint64_t, calls::line>::iterator calls::next() {
  const auto may = [this](const auto& client) {
    return !client.second.waiting.empty() && client.second.at_work < share_;
  };
  const auto behind = lines_.upper_bound(last_);
  const auto later = std::find_if(behind, lines_.end(), may);
  if (later != lines_.end()) return later;
  const auto earlier = std::find_if(lines_.begin(), behind, may);
  return earlier == behind ? lines_.end() : earlier;
}

PINION_DECL void calls::drop(std::uint64_t client) {
  std::deque<call> dropped;  // freed without the lock
  std::lock_guard hold(mutex_);
  const auto at = lines_.find(client);
  if (at == lines_.end()) return;
  dropped.swap(at->second.waiting);
  at->second.dropped.cancel();
  if (at->second.at_work == 0) lines_.erase(at);
}

PINION_DECL bool calls::join(time_point until) {
  std::list<one> over;
  std::unique_lock hold(mutex_);
  const bool all = ended_.wait_until(hold, until, [this] { return none_runs(); });
  for (auto at = threads_.begin(); at != threads_.end();) {
    const auto following = std::next(at);
    if (at->ended) over.splice(over.end(), threads_, at);
    at = following;
  }
  hold.unlock();
  for (one& t : over) t.thread.join();
  return all;
}

PINION_DECL bool calls::none_runs() const {
  return running_ == 0;
}

}}}  // namespace pinion::v0::distributed

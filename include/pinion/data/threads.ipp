// Bodies of <pinion/data/threads.hpp>.
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/data/threads.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL ordered_queue::place* ordered_queue::reserve(const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  if (!has_room_.wait(hold, stop, [this] { return places_.size() < room_; })) return nullptr;
  return &places_.emplace_back();
}

PINION_DECL void ordered_queue::fill(place* at, made_element made) {
  {
    std::lock_guard hold(mutex_);
    at->made = std::move(made);
    at->filled = true;
  }
  filled_.notify_one();
}

PINION_DECL bool ordered_queue::take(any_element& to, const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  if (!filled_.wait(hold, stop, [this] { return !places_.empty() && places_.front().filled; })) return false;
  made_element first = std::move(places_.front().made);
  places_.pop_front();
  hold.unlock();
  has_room_.notify_one();
  if (first.failure) std::rethrow_exception(first.failure);
  to = std::move(first.element);
  return first.some;
}

PINION_DECL workers::workers(int threads, linked_stop& stop, const std::function<void()>& work) : stop_(stop) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back(work);
  } catch (const std::system_error& e) {
    join();
    throw error(errc::resource_exhausted, std::string("no thread for a dataset: ") + e.what());
  }
}

PINION_DECL void workers::join() {
  stop_.request();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

PINION_DECL prefetch_cursor::prefetch_cursor(const stage& from, std::size_t room, const pass_options& pass)
    : stop_(pass.stop),
      from_(from.open({pass.number, stop_.token()})),
      queue_(room),
      thread_(1, stop_, [this] { work(); }) {}

PINION_DECL void prefetch_cursor::work() {
  for (bool more = true; more;) {
    auto* const place = queue_.reserve(stop_.token());
    if (!place) return;
    made_element made;
    try {
      made.some = from_->next(made.element);
    } catch (...) {
      made.failure = std::current_exception();
    }
    more = made.some;
    queue_.fill(place, std::move(made));
  }
}

PINION_DECL parallel_map_cursor::parallel_map_cursor(const stage& from, any_function f, int threads,
                                                     const pass_options& pass)
    : stop_(pass.stop),
      from_(from.open({pass.number, stop_.token()})),
      f_(std::move(f)),
      queue_(2 * static_cast<std::size_t>(threads)),
      threads_(threads, stop_, [this] { work(); }) {}

PINION_DECL void parallel_map_cursor::work() {
  for (bool more = true; more;) {
    ordered_queue::place* at = nullptr;
    made_element made;
    try {
      made.some = pull(made.element, at) && f_(made.element);
    } catch (...) {
      made.failure = std::current_exception();
    }
    if (!at) return;
    more = made.some;
    queue_.fill(at, std::move(made));
  }
}

PINION_DECL bool parallel_map_cursor::pull(any_element& to, ordered_queue::place*& at) {
  std::lock_guard hold(pulling_);
  if (ended_) return false;
  at = queue_.reserve(stop_.token());
  if (!at) return false;
  ended_ = true;  // stays true unless there is an element
  ended_ = !from_->next(to);
  return !ended_;
}

}}}  // namespace pinion::v0::data

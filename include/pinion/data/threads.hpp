// Stages with threads of their own: prefetch and parallel map.
//
// 1. A cursor's threads are joined by its destructor, which first asks them to stop; the request reaches every wait of
//    the stages before it, and not the user's functions, whose running calls are waited for.
// 2. The order of elements, and the place of an exception among them, is that of the stages before.
// 3. No more than `room` elements are begun and not yet taken.
// 4. No function of the user's runs with a lock held that a consumer or a stop request needs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>

namespace pinion::inline v0::data {

// Stops when it is asked to, and when the stage after it is.
class linked_stop {
 public:
  explicit linked_stop(const std::stop_token& outer) : link_(outer, [this] { own_.request_stop(); }) {}
  void request() { own_.request_stop(); }
  std::stop_token token() const { return own_.get_token(); }

 private:
  std::stop_source own_;
  std::stop_callback<std::function<void()>> link_;
};

// A queue of places that are filled in any order and emptied in theirs. Thread-safe.
template <class T>
class ordered_queue {
 public:
  struct place {
    std::optional<T> value;  // neither value nor failure: the end
    std::exception_ptr failure;
    bool filled = false;
  };

  explicit ordered_queue(std::size_t room) : room_(room) {}

  // The next place, once there is room; null when asked to stop. It stays where it is until it is taken.
  place* reserve(const std::stop_token& stop) {
    std::unique_lock hold(mutex_);
    if (!has_room_.wait(hold, stop, [this] { return places_.size() < room_; })) return nullptr;
    return &places_.emplace_back();
  }
  void fill(place* at, std::optional<T> value, std::exception_ptr failure) {
    {
      std::lock_guard hold(mutex_);
      at->value = std::move(value);
      at->failure = std::move(failure);
      at->filled = true;
    }
    filled_.notify_one();
  }
  // What is in the first place, once it is filled; the end when asked to stop. Rethrows a failure.
  std::optional<T> take(const std::stop_token& stop) {
    std::unique_lock hold(mutex_);
    if (!filled_.wait(hold, stop, [this] { return !places_.empty() && places_.front().filled; })) return std::nullopt;
    place first = std::move(places_.front());
    places_.pop_front();
    hold.unlock();
    has_room_.notify_one();
    if (first.failure) std::rethrow_exception(first.failure);
    return std::move(first.value);
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any has_room_, filled_;
  std::deque<place> places_;  // references to its elements outlive pushes and pops at the ends
  std::size_t room_;
};

// `threads` threads that run `work`, until it returns. Requires: `stop`, requested, makes it return.
class workers {
 public:
  template <class Work>
  workers(int threads, linked_stop& stop, const Work& work) : stop_(stop) {
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back(work);
    } catch (const std::system_error& e) {
      join();
      throw error(errc::resource_exhausted, std::string("no thread for a dataset: ") + e.what());
    }
  }
  workers(const workers&) = delete;
  ~workers() { join(); }

 private:
  void join();

  linked_stop& stop_;
  std::vector<std::thread> threads_;
};

// Elements made ahead by one thread.
template <element... Ts>
class prefetch_cursor final : public cursor<Ts...> {
 public:
  prefetch_cursor(const stage<Ts...>& from, std::size_t room, const pass_options& pass)
      : stop_(pass.stop),
        from_(from.open({pass.number, stop_.token()})),
        queue_(room),
        thread_(1, stop_, [this] { work(); }) {}
  std::optional<element_of<Ts...>> next() override { return queue_.take(stop_.token()); }

 private:
  void work() {
    for (bool more = true; more;) {
      auto* const place = queue_.reserve(stop_.token());
      if (!place) return;
      std::optional<element_of<Ts...>> element;
      std::exception_ptr failure;
      try {
        element = from_->next();
      } catch (...) {
        failure = std::current_exception();
      }
      more = element.has_value();
      queue_.fill(place, std::move(element), std::move(failure));
    }
  }

  linked_stop stop_;
  cursor_ptr<Ts...> from_;
  ordered_queue<element_of<Ts...>> queue_;
  workers thread_;  // last: first to go
};

// A function run on several elements at a time.
template <class F, class From, element... Us>
class parallel_map_cursor;
template <class F, element... Ts, element... Us>
class parallel_map_cursor<F, std::tuple<Ts...>, Us...> final : public cursor<Us...> {
 public:
  parallel_map_cursor(const stage<Ts...>& from, std::shared_ptr<const F> f, int threads, const pass_options& pass)
      : stop_(pass.stop),
        from_(from.open({pass.number, stop_.token()})),
        f_(std::move(f)),
        queue_(2 * static_cast<std::size_t>(threads)),
        threads_(threads, stop_, [this] { work(); }) {}
  std::optional<element_of<Us...>> next() override { return queue_.take(stop_.token()); }

 private:
  using place = typename ordered_queue<element_of<Us...>>::place;

  void work() {
    for (;;) {
      place* at = nullptr;
      std::optional<element_of<Us...>> result;
      std::exception_ptr failure;
      try {
        auto element = pull(at);
        if (element) result = call<F, Ts...>(*f_, *std::move(element));
      } catch (...) {
        failure = std::current_exception();
      }
      if (!at) return;
      const bool more = result.has_value();
      queue_.fill(at, std::move(result), std::move(failure));
      if (!more) return;
    }
  }
  // The next element and the place for what becomes of it, in the same order. No place: nothing is left to do.
  std::optional<element_of<Ts...>> pull(place*& at) {
    std::lock_guard hold(pulling_);
    if (ended_) return std::nullopt;
    at = queue_.reserve(stop_.token());
    if (!at) return std::nullopt;
    ended_ = true;  // unless there is an element
    auto element = from_->next();
    ended_ = !element;
    return element;
  }

  linked_stop stop_;
  cursor_ptr<Ts...> from_;
  std::shared_ptr<const F> f_;
  ordered_queue<element_of<Us...>> queue_;
  std::mutex pulling_;
  bool ended_ = false;
  workers threads_;  // last: first to go
};

}  // namespace pinion::inline v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/threads.ipp>
#endif

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
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

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

// A stage has made an element, a failure, or neither, which is the end.
struct made_element {
  any_element element;
  bool some = false;
  std::exception_ptr failure;
};

// A queue of places that are filled in any order and emptied in theirs. Thread-safe.
class ordered_queue {
 public:
  struct place {
    made_element made;
    bool filled = false;
  };

  explicit ordered_queue(std::size_t room) : room_(room) {}

  // The next place, once there is room; null when asked to stop. It stays where it is until it is taken.
  place* reserve(const std::stop_token& stop);
  void fill(place* at, made_element made);
  // Makes `to` the element of the first place, once it is filled; false at the end, and when asked to stop. Rethrows a
  // failure.
  bool take(any_element& to, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any has_room_, filled_;
  std::deque<place> places_;  // references to its elements outlive pushes and pops at the ends
  std::size_t room_;
};

// `threads` threads that run `work`, until it returns. Requires: `stop`, requested, makes it return.
class workers {
 public:
  workers(int threads, linked_stop& stop, const std::function<void()>& work);
  workers(const workers&) = delete;
  ~workers() { join(); }

 private:
  void join();

  linked_stop& stop_;
  std::vector<std::thread> threads_;
};

// Elements made ahead by one thread.
class prefetch_cursor final : public cursor {
 public:
  prefetch_cursor(const stage& from, std::size_t room, const pass_options& pass);
  bool next(any_element& to) override { return queue_.take(to, stop_.token()); }

 private:
  void work();

  linked_stop stop_;
  cursor_ptr from_;
  ordered_queue queue_;
  workers thread_;  // last: first to go
};

// A function run on several elements at a time.
class parallel_map_cursor final : public cursor {
 public:
  parallel_map_cursor(const stage& from, any_function f, int threads, const pass_options& pass);
  bool next(any_element& to) override { return queue_.take(to, stop_.token()); }

 private:
  void work();
  // Makes `to` the next element, and reserves the place for what becomes of it, in the same order. No place: nothing is
  // left to do.
  bool pull(any_element& to, ordered_queue::place*& at);

  linked_stop stop_;
  cursor_ptr from_;
  any_function f_;
  ordered_queue queue_;
  std::mutex pulling_;
  bool ended_ = false;
  workers threads_;  // last: first to go
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/threads.ipp>
#endif

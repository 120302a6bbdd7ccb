// Stages with threads of their own: prefetch and parallel map.
//
// Invariants
//   1. The destructor of a cursor joins its threads. First it asks them to stop; the request reaches every wait of the
//      stages before it. It does not reach a user's function: the destructor waits for its running calls.
//   2. Elements keep the order of the stages before, and so does an exception among them.
//   3. At most `room` elements are begun and not yet taken.
//   4. No user's function runs under a lock that a consumer or a stop request needs.
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

// A stop that is requested by its owner, or by the stage behind it. Thread-safe.
class linked_stop {
 public:
  // A stop of the outer one stops this one, and not the other way round.
  explicit linked_stop(const std::stop_token& outer) : link_(outer, [this] { own_.request_stop(); }) {}
  void request() { own_.request_stop(); }
  std::stop_token token() const { return own_.get_token(); }

 private:
  std::stop_source own_;
  std::stop_callback<std::function<void()>> link_;
};

// The result of a stage: an element, a failure, or neither, which is the end.
struct made_element {
  any_element element;
  bool some = false;
  std::exception_ptr failure;
};

// A queue of places that are filled in any order and emptied in their order. Thread-safe. It waits for room and for
// elements; a stop ends both waits. One consumer takes, and any number of threads reserve and fill.
class ordered_queue {
 public:
  struct place {
    made_element made;
    bool filled = false;
  };

  // Requires: room is positive.
  explicit ordered_queue(std::size_t room) : room_(room) {}

  // The next place, once there is room; null on a stop. The pointer is valid until the place is taken.
  place* reserve(const std::stop_token& stop);
  // Fills a place and wakes the consumer.
  void fill(place* at, made_element made);
  // Makes `to` the element of the first place, once it is filled. Returns false at the end, and on a stop. Rethrows a
  // failure.
  bool take(any_element& to, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any has_room_, filled_;
  std::deque<place> places_;  // references to its elements survive pushes and pops at the ends
  std::size_t room_;
};

// Threads that each run `work` until it returns. It owns them; its destructor requests the stop and joins them.
// Requires: `work` returns once `stop` is requested. Throws resource_exhausted if the system gives no thread.
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

// A cursor whose elements one thread makes ahead. It begins to work when the pass is opened.
class prefetch_cursor final : public cursor {
 public:
  prefetch_cursor(const stage& from, std::size_t room, const pass_options& pass);
  bool next(any_element& to) override { return queue_.take(to, stop_.token()); }

 private:
  void work();

  linked_stop stop_;
  cursor_ptr from_;
  ordered_queue queue_;
  workers thread_;  // the last member, so that it goes first
};

// A cursor that runs a function on several elements at the same time, in threads of its own. The stages before it are
// asked by one thread at a time, and the function by all.
class parallel_map_cursor final : public cursor {
 public:
  // It holds up to twice as many elements as it has threads.
  parallel_map_cursor(const stage& from, any_function f, int threads, const pass_options& pass);
  bool next(any_element& to) override { return queue_.take(to, stop_.token()); }

 private:
  void work();
  // Makes `to` the next element and reserves the place of its result, in one order. A null place means that nothing is
  // left to do.
  bool pull(any_element& to, ordered_queue::place*& at);

  linked_stop stop_;
  cursor_ptr from_;
  any_function f_;
  ordered_queue queue_;
  std::mutex pulling_;
  bool ended_ = false;
  workers threads_;  // the last member, so that it goes first
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/threads.ipp>
#endif

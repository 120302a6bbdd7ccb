// Closures in lines that are served round robin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// A queue of closures whose lines are served round robin, so that a line of any length holds up another by one closure
// at most. A line is attended while one of its closures is at work. Owned by a pool, under its lock. Not thread-safe.
class fair_queue {
 public:
  using closure = std::function<void()>;
  // A closure that was taken. Its line is told by done().
  struct taken {
    std::uint64_t line;
    closure what;
  };

  void push(std::uint64_t line, closure what);
  bool empty() const { return order_.empty(); }
  // Takes the first closure of the line to be served next; nothing if there is none.
  std::optional<taken> take();
  // Takes the first closure of the first line that waits and is not attended.
  std::optional<taken> take_unattended();
  void done(std::uint64_t line);
  // The number of lines that wait and are not attended.
  std::size_t unattended() const { return unattended_; }

 private:
  struct one_line {
    std::deque<closure> waiting;
    int at_work = 0;
  };
  using lines = std::unordered_map<std::uint64_t, one_line>;
  using serving_order = std::list<lines::value_type*>;
  static constexpr std::size_t most_kept = 64;  // lines without closures, which come again in most programs

  // Takes no memory, since a thread that takes a closure has nobody to tell that there is none.
  taken take_from(serving_order::iterator at);

  lines lines_;
  serving_order order_;  // the lines that wait, in the order in which they are served
  std::size_t unattended_ = 0;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/fair_queue.ipp>
#endif

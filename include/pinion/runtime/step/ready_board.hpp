// The items of a run that any of its threads may take, the most urgent first.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A set of places on a board, one bit each; place 0 is the most urgent. Thread-safe, without a lock. What a thread
// wrote before it put a place is seen by the thread that takes it.
class ready_board {
 public:
  static constexpr int none = -1;

  explicit ready_board(std::size_t places) : words_((places + 63) / 64) {}

  // Requires: the place is not on the board.
  void put(int place) {
    count_.fetch_add(1);
    words_[static_cast<std::size_t>(place) / 64].fetch_or(bit(place));
  }
  // Takes the first place from the board; none where it is empty.
  int take() {
    for (std::size_t w = 0; any() && w < words_.size(); ++w)
      for (std::uint64_t now = words_[w].load(std::memory_order_relaxed); now != 0;) {
        const int place = static_cast<int>(w) * 64 + std::countr_zero(now);
        now = words_[w].fetch_and(~bit(place));
        if ((now & bit(place)) == 0) continue;  // another thread was first
        count_.fetch_sub(1);
        return place;
      }
    return none;
  }
  // Takes the first place if it comes before `place`.
  int take_before(int place) {
    const int first = this->first();
    if (first == none || first >= place) return none;
    const std::uint64_t before = words_[static_cast<std::size_t>(first) / 64].fetch_and(~bit(first));
    if ((before & bit(first)) == 0) return none;
    count_.fetch_sub(1);
    return first;
  }
  // Tells whether a place is on the board, or will be in a moment.
  bool any() const { return count_.load() > 0; }

 private:
  static std::uint64_t bit(int place) { return std::uint64_t{1} << (place % 64); }
  int first() const {
    for (std::size_t w = 0; any() && w < words_.size(); ++w)
      if (const std::uint64_t now = words_[w].load(std::memory_order_relaxed); now != 0)
        return static_cast<int>(w) * 64 + std::countr_zero(now);
    return none;
  }

  std::vector<std::atomic<std::uint64_t>> words_;
  std::atomic<int> count_{0};
};

}}}  // namespace pinion::v0::runtime

// The items of a run that are ready, the lowest first, and the expensive ones among them.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Two pairing heaps of items, one of expensive ones. Their links lie in the memory of the run, one for each item, so
// that they allocate nothing; an item is in one heap at a time. Used by one thread.
class ready_items {
 public:
  static constexpr int none = -1;
  struct link {
    int child = none, next = none;
  };

  explicit ready_items(std::span<link> links) : links_(links) {}

  bool empty() const { return others_ == none && expensive_ == none; }
  // Requires, for these: it is not empty.
  int top() const {
    if (others_ == none || expensive_ == none) return std::max(others_, expensive_);
    return std::min(others_, expensive_);
  }
  int pop() { return pop(top() == expensive_ ? expensive_ : others_); }

  bool has_expensive() const { return expensive_ != none; }
  // Requires: there is an expensive one.
  int pop_expensive() { return pop(expensive_); }

  void push(int item, bool expensive) {
    at(item) = {};
    int& top = expensive ? expensive_ : others_;
    top = top == none ? item : joined(top, item);
  }

 private:
  link& at(int item) { return links_[static_cast<std::size_t>(item)]; }
  int pop(int& top) {
    const int item = top;
    top = joined_all(at(item).child);
    return item;
  }
  // The heap of two heaps.
  int joined(int a, int b) {
    if (b < a) std::swap(a, b);
    at(b).next = at(a).child;
    at(a).child = b;
    return a;
  }
  // The heap of a list of heaps: joined by twos forth, then one by one back.
  int joined_all(int first) {
    int pairs = none;
    while (first != none) {
      const int second = at(first).next;
      const int rest = second == none ? none : at(second).next;
      const int pair = second == none ? first : joined(first, second);
      at(pair).next = pairs;
      pairs = pair;
      first = rest;
    }
    int all = none;
    while (pairs != none) {
      const int rest = at(pairs).next;
      all = all == none ? pairs : joined(all, pairs);
      pairs = rest;
    }
    if (all != none) at(all).next = none;
    return all;
  }

  std::span<link> links_;
  int others_ = none, expensive_ = none;
};

}}}  // namespace pinion::v0::runtime

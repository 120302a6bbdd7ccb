// A pass over a dataset, for its user: next(), or a loop.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <pinion/data/cursor.hpp>

namespace pinion::inline v0::data {

// The elements of one pass, one after another. Owns the threads of its stages: destroying it, at any time, stops and
// joins them, and waits for no more than the running calls of the user's functions. Movable; one thread at a time. An
// exception of a stage, or of a function of the user's, comes out of the next() that would have given that element (the
// batch that would have held it, the first that a shuffle's buffer with it would have given), and ends the pass.
template <element... Ts>
class pass {
 public:
  using value_type = element_of<Ts...>;

  explicit pass(cursor_ptr<Ts...> from) : from_(std::move(from)) {}

  // The next element; nothing at the end, and ever after.
  std::optional<value_type> next() {
    if (!from_) return std::nullopt;
    try {
      auto element = from_->next();
      if (!element) from_.reset();
      return element;
    } catch (...) {
      from_.reset();
      throw;
    }
  }

  // For range-for: for (auto& [x, y] : pass). What an iterator points to lives until it is advanced.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = element_of<Ts...>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    explicit iterator(pass& of) : of_(&of) { ++*this; }
    reference operator*() const { return *now_; }
    pointer operator->() const { return &*now_; }
    iterator& operator++() {
      now_ = of_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return !i.now_; }

   private:
    pass* of_;
    mutable std::optional<value_type> now_;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  cursor_ptr<Ts...> from_;
};

}  // namespace pinion::inline v0::data

// A pass over a dataset, for its user: next(), or a loop.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/element.hpp>
#include <pinion/data/forward.hpp>
#include <pinion/tensor/take_tuple.hpp>

namespace pinion { inline namespace v0 { namespace data {

// A pass whose elements have no types; see pass.
class any_pass {
 public:
  explicit any_pass(cursor_ptr from);
  any_pass(any_pass&&) noexcept;
  any_pass& operator=(any_pass&&) noexcept;
  ~any_pass();

  // The next element, whose tensors may be taken out; null at the end, and ever after.
  any_element* next();

 private:
  cursor_ptr from_;
  any_element now_;
};

// The elements of one pass, one after another. Owns the threads of its stages: destroying it, at any time, stops and
// joins them, and waits for no more than the running calls of the user's functions. Movable; one thread at a time. An
// exception of a stage, or of a function of the user's, comes out of the next() that would have given that element (the
// batch that would have held it, the first that a shuffle's buffer with it would have given), and ends the pass.
template <element... Ts>
class pass {
 public:
  using value_type = element_of<Ts...>;

  explicit pass(any_pass from) : from_(std::move(from)) {}

  // The next element; nothing at the end, and ever after.
  std::optional<value_type> next() {
    any_element* const element = from_.next();
    if (!element) return std::nullopt;
    return take_tuple<value_type>(*element);
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
  any_pass from_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/pass.ipp>
#endif

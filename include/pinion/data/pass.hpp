// A pass over a dataset as its user sees it: next(), or a loop. Passes are opened by dataset::iterate().
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>
#include <pinion/data/element.hpp>
#include <pinion/data/forward.hpp>
#include <pinion/tensor/take_tuple.hpp>

namespace pinion { inline namespace v0 { namespace data {

// A pass without the types of its elements; its rules are those of pass.
class any_pass {
 public:
  // Takes a cursor, which it owns.
  explicit any_pass(cursor_ptr from);
  any_pass(any_pass&&) noexcept;
  any_pass& operator=(any_pass&&) noexcept;
  ~any_pass();

  // The next element, whose tensors the caller may move out; null at the end and ever after. The pointer is valid until
  // the next call.
  any_element* next();

 private:
  process_mark made_in_;
  cursor_ptr from_;
  any_element now_;
};

// The elements of one pass, one after another. It owns the threads of its stages: its destructor, at any time, stops
// and joins them, and waits only for calls of the user's functions that are running. Movable; for one thread at a time.
//
// An exception of a stage, or of a user's function, comes out of the next() that would have returned that element, and
// ends the pass. Behind a batch stage that is the batch that would have held it; behind a shuffle, the first element
// out of a buffer that would have held it.
//
//   auto epoch = digits.iterate();
//   while (auto element = epoch.next()) {
//     auto& [x, y] = *element;
//   }
template <element... Ts>
class pass {
 public:
  // An element: a tuple with one tensor for each component.
  using value_type = element_of<Ts...>;

  explicit pass(any_pass from) : from_(std::move(from)) {}

  // The next element, or nothing at the end and ever after. It waits for the element to be made. Tensors of it are the
  // caller's: the pass does not write to them again.
  std::optional<value_type> next() {
    any_element* const element = from_.next();
    if (!element) return std::nullopt;
    return take_tuple<value_type>(*element);
  }

  // An iterator for a loop: for (auto& [x, y] : pass). The element that it points to lives until it is advanced. A pass
  // is read once: a second loop over it goes on where the first one ended.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = element_of<Ts...>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    explicit iterator(pass& of) : of_(&of) { ++*this; }
    // The element; it may be changed or moved out. Requires: the end is not reached.
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
  // An iterator at the next element of this pass. It takes the first element at once.
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  any_pass from_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/pass.ipp>
#endif

// The stage that makes batches. It copies a batch of a table's rows in one go, and stacks other elements one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Stacks elements of equal shapes along a new first dimension, and makes `to` the result. Throws invalid_argument if
// shapes differ. Requires: there is at least one element. The sentence of the error names both shapes; data of several
// lengths is padded by a map() in front.
void stack(const std::vector<any_element>& elements, any_element& to);

// A cursor over batches of the elements of another cursor. For one thread at a time. The last batch may be smaller,
// unless drop_remainder.
class batch_cursor final : public cursor {
 public:
  // Requires: size is positive.
  batch_cursor(cursor_ptr from, std::int64_t size, bool drop_remainder);
  bool next(any_element& to) override { return table_ ? next_of_table(to) : next_of_elements(to); }

 private:
  // A last batch of no elements is none.
  bool too_few(std::size_t n) const { return n == 0 || (n < size_ && drop_remainder_); }
  // The rows are copied into one new tensor for each component; rows that follow one another are copied at once.
  bool next_of_table(any_element& to);
  // The elements are kept until the batch is full, and then copied.
  bool next_of_elements(any_element& to);

  cursor_ptr from_;
  std::shared_ptr<const rows> table_;
  std::size_t size_;
  bool drop_remainder_, ended_ = false;
  std::vector<std::int64_t> numbers_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/batch.ipp>
#endif

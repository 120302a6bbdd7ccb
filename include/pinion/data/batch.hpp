// The stage that makes batches: from a table in one copy, else from elements one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Makes `to` elements of equal shapes along a new first dimension. Requires: at least one. Errors: shapes that differ,
// invalid_argument.
void stack(const std::vector<any_element>& elements, any_element& to);

class batch_cursor final : public cursor {
 public:
  batch_cursor(cursor_ptr from, std::int64_t size, bool drop_remainder);
  bool next(any_element& to) override { return table_ ? next_of_table(to) : next_of_elements(to); }

 private:
  bool too_few(std::size_t n) const { return n == 0 || (n < size_ && drop_remainder_); }
  bool next_of_table(any_element& to);
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

// The stage that shuffles: it takes a random element out of a buffer, and puts the next one in its place.
//
//   buffer of 3:   [a b c]  -> b, and d takes its place   [a d c]  -> a, and e takes its place   [e d c] ...
//
// Each draw is uniform over the buffer. Row numbers cost 8 bytes each in it, elements their own size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>
#include <pinion/data/random.hpp>

namespace pinion { inline namespace v0 { namespace data {

// A cursor over the elements of another one in random order. It shuffles numbers of rows where there is a table, and
// elements otherwise. For one thread at a time. With a buffer as large as the data the order is uniform; with a smaller
// one an element moves forward by less than the buffer. The first element comes when the buffer is full.
class shuffle_cursor final : public numbered_cursor {
 public:
  shuffle_cursor(cursor_ptr from, std::int64_t buffer, std::uint64_t seed, const pass_options& pass);
  // At the end of the elements the buffer runs empty, and its last places are drawn from as well.
  std::size_t next_numbers(std::span<std::int64_t> numbers) override;

 private:
  // It fills the buffer before the first draw, in growing pieces, so that a buffer larger than the data costs nothing.
  void fill_numbers();
  bool next_element(any_element& to) override;
  // Fills the place of the last element. It is filled this late so that an exception of the next element does not come
  // one element early.
  void fill_hole();
  // Takes one more element into the buffer.
  void take();

  cursor_ptr from_;
  std::size_t size_;
  random_indices random_;
  std::stop_token stop_;
  bool filled_ = false, ended_ = false;
  std::optional<std::size_t> hole_;            // the place that the last element was taken from
  std::vector<std::int64_t> numbers_, fresh_;  // filled where there is a table
  std::vector<any_element> elements_;          // filled where there is none
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/shuffle.ipp>
#endif

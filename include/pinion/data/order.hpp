// Stages that choose elements by their place: take, skip, shard and repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Takes one of every `of` elements, from number `first` on, and `most` of them at most: take is (0, 1, n), skip is (n,
// 1, all), and a shard is (i, n, all). Elements that it passes over are made and dropped, unless they are rows of a
// table, which cost nothing.
class stride_cursor final : public numbered_cursor {
 public:
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  // Requires: first and most are not negative, and `of` is positive.
  stride_cursor(cursor_ptr from, std::int64_t first, std::int64_t of, std::int64_t most, std::stop_token stop);
  std::size_t next_numbers(std::span<std::int64_t> numbers) override;

 private:
  // Skips elements up to the next one to take. Returns false at the end, or on a stop. Numbers are skipped 256 at a
  // time.
  bool pass_over_numbers();
  bool next_element(any_element& to) override;

  cursor_ptr from_;
  std::int64_t pass_over_, of_, left_;
  std::stop_token stop_;
};

// Opens pass after pass of a stage. A pass without elements ends it; otherwise it would never end. The element types
// and the table of all passes are those of the first.
class repeat_cursor final : public numbered_cursor {
 public:
  repeat_cursor(stage_ptr of, std::int64_t times, const pass_options& pass);
  std::size_t next_numbers(std::span<std::int64_t> numbers) override;

 private:
  repeat_cursor(cursor_ptr first, stage_ptr of, std::int64_t times, const pass_options& pass);
  bool next_element(any_element& to) override;
  // Opens the next repetition, under a number that is derived from the pass and the repetition. The number of a
  // repetition is mixed from that of the pass, so each has another order, and the same one in another run.
  void go_on();

  stage_ptr of_;
  cursor_ptr now_;
  std::int64_t times_, done_ = 0;  // negative times_: without end
  pass_options pass_;
  bool some_ = false;  // this repetition has had an element
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/order.ipp>
#endif

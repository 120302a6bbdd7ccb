// The stage that shuffles: a buffer from which a random element is taken, and the next one put in its place.
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

class shuffle_cursor final : public numbered_cursor {
 public:
  shuffle_cursor(cursor_ptr from, std::int64_t buffer, std::uint64_t seed, const pass_options& pass);
  std::size_t next_numbers(std::span<std::int64_t> numbers) override;

 private:
  void fill_numbers();
  bool next_element(any_element& to) override;
  // The place of the last element is filled only now, so that an exception does not come an element early.
  void fill_hole();
  void take();

  cursor_ptr from_;
  std::size_t size_;
  random_indices random_;
  std::stop_token stop_;
  bool filled_ = false, ended_ = false;
  std::optional<std::size_t> hole_;            // where the last element was
  std::vector<std::int64_t> numbers_, fresh_;  // one of these,
  std::vector<any_element> elements_;          // or these
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/shuffle.ipp>
#endif

// Bodies of <pinion/data/sources.hpp>.
#pragma once

#include <pinion/data/sources.hpp>

namespace pinion::inline v0::data {

PINION_DECL dataset<std::int64_t> range(std::int64_t first, std::int64_t end, std::int64_t step) {
  if (step == 0) throw error(errc::invalid_argument, "a range goes on in steps other than 0");
  const auto distance =
      static_cast<std::uint64_t>(step > 0 ? end : first) - static_cast<std::uint64_t>(step > 0 ? first : end);
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t count = (step > 0) == (first < end) && first != end ? (distance - 1) / stride + 1 : 0;
  if (count >> 63) throw error(errc::invalid_argument, "a range of 2^63 numbers or more");
  auto table = std::make_shared<const number_rows>(first, step);
  return dataset<std::int64_t>(make_stage<std::int64_t>([=](const pass_options&) -> cursor_ptr<std::int64_t> {
    return std::make_unique<table_cursor<std::int64_t>>(table, static_cast<std::int64_t>(count));
  }));
}

}  // namespace pinion::inline v0::data

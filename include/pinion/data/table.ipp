// Bodies of <pinion/data/table.hpp>.
#pragma once

#include <pinion/data/table.hpp>

namespace pinion::inline v0::data {

PINION_DECL element_of<std::int64_t> number_rows::batch(std::span<const std::int64_t> numbers) const {
  auto to = room_for<std::int64_t>(static_cast<std::int64_t>(numbers.size()), {});
  std::transform(numbers.begin(), numbers.end(), to.data(), [this](std::int64_t n) { return at(n); });
  return {std::move(to)};
}

PINION_DECL std::int64_t number_rows::at(std::int64_t number) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) +
                                   static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(step_));
}

}  // namespace pinion::inline v0::data

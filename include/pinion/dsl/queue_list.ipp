// Bodies of <pinion/dsl/queue_list.hpp>.
#pragma once

#include <numeric>

#include <pinion/dsl/layout.hpp>
#include <pinion/dsl/map.hpp>
#include <pinion/dsl/queue_list.hpp>

namespace pinion::inline v0::dsl {

PINION_DECL expr<std::int32_t> checked_choice(const expr<std::int32_t>& index, std::size_t count,
                                              source_location where) {
  tensor<std::int32_t> numbers({static_cast<std::int64_t>(count)});
  std::iota(numbers.span().begin(), numbers.span().end(), 0);
  return gather(constant(numbers, "queues", where), index, {}, where);
}

PINION_DECL expr<bool> is_choice(const expr<std::int32_t>& index, std::size_t number) {
  return index == static_cast<std::int32_t>(number);
}

}  // namespace pinion::inline v0::dsl

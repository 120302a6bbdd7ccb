// Bodies of <pinion/op/queue/queue_list.hpp>.
#pragma once

#include <numeric>

#include <pinion/op/elementwise/map.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/queue/queue_list.hpp>
#include <pinion/op/slice/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL expr<std::int32_t> checked_choice(const expr<std::int32_t>& index, std::size_t count,
                                              source_location where) {
  tensor<std::int32_t> numbers({static_cast<std::int64_t>(count)});
  std::iota(numbers.span().begin(), numbers.span().end(), 0);
  return gather(constant(numbers, "queues", where), index, {}, where);
}

PINION_DECL expr<bool> is_choice(const expr<std::int32_t>& index, std::size_t number) {
  return index == static_cast<std::int32_t>(number);
}

}}}  // namespace pinion::v0::dsl

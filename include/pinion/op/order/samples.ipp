// Bodies of <pinion/op/order/samples.hpp>.
#pragma once

#include <pinion/op/order/samples.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL expr<int> random_order(std::int64_t n, std::int64_t seed, source_location where) {
  return argsort(random_uniform<double>({n}, {.seed = seed}, where), {}, where);
}

PINION_DECL expr<int> random_order(const expr<double>& parts, std::int64_t seed, source_location where) {
  expr<double> like = parts;
  for (int axis = like.shape().rank(); --axis > 0;) like = reduce_sum(like, axis, where);
  return argsort(random_like<op::random_uniform>(like, {{"seed", seed}}, where), {}, where);
}

}}}  // namespace pinion::v0::dsl

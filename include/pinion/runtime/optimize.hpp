// What is done to a placed step before it is cut: constants folded, common nodes shared, transpositions and maps folded
// into their consumers, and what then is dead dropped.
#pragma once

#include <pinion/runtime/optimize/compose_maps.hpp>
#include <pinion/runtime/optimize/draft.hpp>
#include <pinion/runtime/optimize/fold_constants.hpp>
#include <pinion/runtime/optimize/fold_transposes.hpp>
#include <pinion/runtime/optimize/share_common.hpp>

namespace pinion::inline v0::runtime {

inline constexpr std::int64_t largest_folded_constant = 1 << 20;  // bytes

// Of a step's copy; the graph stays as it is. Every fetch yields what it did, up to rounding.
inline optimized_step optimize(const graph& g, const placement& placed, const step_signature& signature) {
  draft d(g, placed, signature);
  fold_constants(d, largest_folded_constant);
  fold_transposes(d);
  share_common(d);
  d.drop_dead();
  d.count_uses();
  if (compose_maps(d) > 0) d.drop_dead();
  return d.finished();
}

}  // namespace pinion::inline v0::runtime

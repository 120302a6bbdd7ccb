// Bodies of <pinion/op/rewrites.hpp>.
#pragma once

#include <pinion/op/elementwise/compose_maps.hpp>
#include <pinion/op/layer/fold_bias_gradients.hpp>
#include <pinion/op/layer/fold_biases.hpp>
#include <pinion/op/layer/fold_transposes.hpp>
#include <pinion/op/reduce/fuse_reductions.hpp>
#include <pinion/op/rewrites.hpp>
#include <pinion/op/variable/fold_gradients.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL std::span<const rewrite> early_rewrites() {
  static constexpr rewrite all[] = {fold_transposes};
  return all;
}

PINION_DECL std::span<const rewrite> late_rewrites() {
  static constexpr rewrite all[] = {compose_maps, fold_gradients, fold_biases, fold_bias_gradients, fuse_reductions};
  return all;
}

}}}  // namespace pinion::v0::op

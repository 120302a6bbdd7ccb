// The part of pinion::compiled that holds the passes over a step's graph: runtime/optimize, and the rewrites of ops.
#include <pinion/op/elementwise/compose_maps.ipp>
#include <pinion/op/elementwise/join_programs.ipp>
#include <pinion/op/elementwise/symbolic_shapes.ipp>
#include <pinion/op/layer/fold_bias_gradients.ipp>
#include <pinion/op/layer/fold_biases.ipp>
#include <pinion/op/layer/fold_transposes.ipp>
#include <pinion/op/reduce/fuse_reductions.ipp>
#include <pinion/op/rewrites.ipp>
#include <pinion/op/variable/fold_gradients.ipp>
#include <pinion/opkit/draft.ipp>
#include <pinion/runtime/optimize/fit_memory.ipp>
#include <pinion/runtime/optimize/fold_constants.ipp>
#include <pinion/runtime/optimize/optimize.ipp>
#include <pinion/runtime/optimize/order_initial_values.ipp>
#include <pinion/runtime/optimize/placed_draft.ipp>
#include <pinion/runtime/optimize/share_common.ipp>
#include <pinion/runtime/optimize/step_outline.ipp>

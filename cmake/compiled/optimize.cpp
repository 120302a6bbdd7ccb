// The part of pinion::compiled that holds the bodies of runtime/optimize: the passes over a step's graph.
#include <pinion/runtime/optimize/compose_maps.ipp>
#include <pinion/runtime/optimize/draft.ipp>
#include <pinion/runtime/optimize/fold_bias_gradients.ipp>
#include <pinion/runtime/optimize/fold_biases.ipp>
#include <pinion/runtime/optimize/fold_constants.ipp>
#include <pinion/runtime/optimize/fold_gradients.ipp>
#include <pinion/runtime/optimize/fold_transposes.ipp>
#include <pinion/runtime/optimize/fuse_reductions.ipp>
#include <pinion/runtime/optimize/join_programs.ipp>
#include <pinion/runtime/optimize/optimize.ipp>
#include <pinion/runtime/optimize/order_initial_values.ipp>
#include <pinion/runtime/optimize/share_common.ipp>
#include <pinion/runtime/optimize/symbolic_shapes.ipp>

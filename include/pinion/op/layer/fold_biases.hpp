// Folds a product into the addition of a bias to its rows, and relu of that, on GPUs: their libraries do both as a
// product ends, so that the product alone is never in memory.
//
//   relu(Add(MatMul(x, w), b))           MatMulBias(x, w, b)
//   MapGrad(MatMul(x, w), b, dy)         MapGrad(h, b, dy), where h is that node: relu's slope is told by its result
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Returns how many products were folded. A product that others read as well, beside the gradient of the node, is left.
// Requires: uses are counted.
int fold_biases(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layer/fold_biases.ipp>
#endif

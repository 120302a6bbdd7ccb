// Folds the gradients of biases, and of relu behind them, into products that read or yield the same matrix, on GPUs:
// their libraries compute both beside a product, so that no pass over memory is left for them.
//
//   MapGrad(h, b, MatMul(dz, w))     MatMulReluGrad(dz, w, h, h:1), where h = relu(x w' + b) is a MatMulBias with a
//   mask MatMul(x, MapGrad(dy, b, dy))    MatMulBiasGrad(x, dy), whose output 1 is the gradient of b
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Returns how many gradients were folded. Requires: uses are counted, and fold_biases() was called.
int fold_bias_gradients(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layer/fold_bias_gradients.ipp>
#endif

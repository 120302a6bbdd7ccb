// expect: labels are class numbers, int32 or int64; pn::cast<int>(x) converts
// The labels of a sequence are fractions.
#include <pinion/graph.hpp>
#include <pinion/op/ctc/functions.hpp>

auto loss_of(pinion::expr<float> labels, pinion::expr<float> logits) {
#ifdef ACCEPT
  return pinion::ctc_loss(pinion::cast<int>(labels), logits);
#else
  return pinion::ctc_loss(labels, logits);
#endif
}

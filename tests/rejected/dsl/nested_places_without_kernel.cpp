// expect: this op has no kernel for this dtype on this device type; there is one on CPU
// Tags of nested calls merge, and what comes of it is checked.
#include <pinion/graph.hpp>

auto made(pinion::expr<float> x, pinion::expr<int> y) {
#ifdef ACCEPT
  return pinion::place<"/cpu:0">(pinion::place<"/job:ps">(pinion::in_top_k(x, y)));
#else
  return pinion::place<"/gpu:0">(pinion::place<"/job:ps">(pinion::in_top_k(x, y)));
#endif
}

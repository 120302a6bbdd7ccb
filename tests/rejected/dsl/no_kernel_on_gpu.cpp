// expect: this op has no kernel for this dtype on this device type; there is one on CPU
// expect: check_kernel
// expect: in_top_k
// expect g++: InTopK has no bool kernel on GPU; there is one on CPU
// InTopK is computed on the CPU alone.
#include <pinion/graph.hpp>

auto made(pinion::expr<float> x, pinion::expr<int> y) {
#ifdef ACCEPT
  return pinion::place<"/cpu:0">(pinion::in_top_k(x, y));
#else
  return pinion::place<"/gpu:0">(pinion::in_top_k(x, y));
#endif
}

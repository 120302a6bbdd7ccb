// expect: gradients are taken of and by floating-point expressions
// Integers have no gradient.
#include <pinion/graph.hpp>

auto slope(pinion::expr<float> y, pinion::expr<int> x, pinion::expr<float> z) {
#ifdef ACCEPT
  (void)x;
  return pinion::gradients(y, z);
#else
  (void)z;
  return pinion::gradients(y, x);
#endif
}

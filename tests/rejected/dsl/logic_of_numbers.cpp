// expect: take bools
// Numbers are no conditions.
#include <pinion/graph.hpp>

auto both(pinion::expr<float> a, pinion::expr<float> b) {
#ifdef ACCEPT
  return a > 0 && b > 0;
#else
  return a && b;
#endif
}

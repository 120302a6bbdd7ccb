// expect: pn::cast<float>(x) makes numbers of bools
// bools are not added.
#include <pinion/graph.hpp>

auto count(pinion::expr<bool> a, pinion::expr<bool> b) {
#ifdef ACCEPT
  return pinion::cast<float>(a) + pinion::cast<float>(b);
#else
  return a + b;
#endif
}

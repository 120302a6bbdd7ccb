// expect: this function is defined on floating-point expressions; pn::cast<float>(x) converts
// The exponential of integers.
#include <pinion/graph.hpp>

auto grown(pinion::expr<int> x) {
#ifdef ACCEPT
  return pinion::exp(pinion::cast<float>(x));
#else
  return pinion::exp(x);
#endif
}

// expect: the operands have different dtypes; pn::cast<T>(x) converts one of them
// Operands of two dtypes.
#include <pinion/graph.hpp>

auto sum(pinion::expr<float> a, pinion::expr<double> b) {
#ifdef ACCEPT
  return a + pinion::cast<float>(b);
#else
  return a + b;
#endif
}

// expect: a fraction beside an integer expression would be cut off; pn::cast<float>(x) converts the expression
// 0.5 times an integer expression.
#include <pinion/graph.hpp>

auto half(pinion::expr<int> x) {
#ifdef ACCEPT
  return 0.5f * pinion::cast<float>(x);
#else
  return 0.5f * x;
#endif
}

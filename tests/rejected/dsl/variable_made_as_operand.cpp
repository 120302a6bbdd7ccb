// expect: store it first
// A variable that nobody could ever initialise.
#include <pinion/graph.hpp>

auto sum(pinion::expr<float> a) {
#ifdef ACCEPT
  auto v = pinion::variable(1.0f);
  return a + v;
#else
  return a + pinion::variable(1.0f);
#endif
}

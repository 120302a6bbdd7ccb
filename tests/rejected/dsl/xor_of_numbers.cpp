// expect: logical_xor takes bools; a comparison makes them
// Numbers that stand for true and false.
#include <pinion/graph.hpp>

auto one_of_both(pinion::expr<float> x, pinion::expr<float> y) {
#ifdef ACCEPT
  return logical_xor(x != 0.0f, y != 0.0f);
#else
  return logical_xor(x, y);
#endif
}

// expect: no bool is less than another
// Bools have no order.
#include <pinion/graph.hpp>

auto compared(pinion::expr<bool> a, pinion::expr<bool> b) {
#ifdef ACCEPT
  return a == b;
#else
  return a < b;
#endif
}

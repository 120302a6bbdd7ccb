// expect: elements of this type are stored, and ops do not compute with them; pn::cast<float>(x) makes numbers
// A sum of halves.
#include <pinion/graph.hpp>

auto make(pinion::expr<pinion::half> a, pinion::expr<pinion::half> b) {
#ifdef ACCEPT
  return pinion::cast<float>(a) + pinion::cast<float>(b);
#else
  return a + b;
#endif
}

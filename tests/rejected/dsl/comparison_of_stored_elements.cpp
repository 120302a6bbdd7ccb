// expect: elements of this type are stored, and ops do not compute with them; pn::cast<float>(x) makes numbers
// A comparison of integers of 8 bits with one of them.
#include <pinion/graph.hpp>

auto make(pinion::expr<std::int8_t> a) {
#ifdef ACCEPT
  return pinion::cast<int>(a) > 3;
#else
  return a > std::int8_t(3);
#endif
}

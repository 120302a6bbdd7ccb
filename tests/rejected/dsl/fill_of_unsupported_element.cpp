// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A tensor filled with a value of a type that no element has.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::fill({2}, 1.0);
#else
  return pinion::fill({2}, 1.0L);
#endif
}

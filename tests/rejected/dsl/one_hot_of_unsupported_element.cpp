// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// Rows that are 1 at an index, of a type that no element has.
#include <pinion/graph.hpp>

auto make(pinion::expr<int> x) {
#ifdef ACCEPT
  return pinion::one_hot<double>(x, 3);
#else
  return pinion::one_hot<long double>(x, 3);
#endif
}

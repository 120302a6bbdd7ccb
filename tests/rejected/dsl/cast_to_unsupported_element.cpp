// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A cast to a type that no element has.
#include <pinion/graph.hpp>

auto make(pinion::expr<float> x) {
#ifdef ACCEPT
  return pinion::cast<double>(x);
#else
  return pinion::cast<long double>(x);
#endif
}

// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A cast to a type that no element has.
#include <pinion/graph.hpp>

auto make(pinion::expr<float> x) {
#ifdef ACCEPT
  return pinion::cast<double>(x);
#else
  return pinion::cast<long double>(x);
#endif
}

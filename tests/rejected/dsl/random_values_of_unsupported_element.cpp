// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// Random values of a type that no element has.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::random_uniform<double>({2});
#else
  return pinion::random_uniform<long double>({2});
#endif
}

// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A tensor filled with a value of a type that no element has.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::fill({2}, 1.0);
#else
  return pinion::fill({2}, 1.0L);
#endif
}

// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A range of a type that no element has.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::range<int>(3);
#else
  return pinion::range<short>(3);
#endif
}

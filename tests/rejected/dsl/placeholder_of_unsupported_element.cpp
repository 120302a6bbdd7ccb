// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A placeholder of a type that no element has.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::placeholder<int>({2});
#else
  return pinion::placeholder<short>({2});
#endif
}

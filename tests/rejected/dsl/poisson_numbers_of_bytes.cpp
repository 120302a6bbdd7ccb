// expect: Poisson numbers are of float, double, int or int64
// Numbers of a distribution that has no bound are bytes.
#include <pinion/graph.hpp>
#include <pinion/op/distribution/functions.hpp>

auto make(pinion::expr<float> rates) {
#ifdef ACCEPT
  return pinion::random_poisson<int>({2}, rates);
#else
  return pinion::random_poisson<std::uint8_t>({2}, rates);
#endif
}

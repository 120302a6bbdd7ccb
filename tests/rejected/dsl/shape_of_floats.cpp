// expect: extents, places, sizes and multiples are of int or std::int64_t; pn::cast<int> converts
// A shape that was computed in floats.
#include <pinion/graph.hpp>
#include <pinion/op/dynamic/functions.hpp>

auto halved(pinion::expr<float> x, pinion::expr<float> extents) {
#ifdef ACCEPT
  return pinion::reshape(x, pinion::cast<int>(extents));
#else
  return pinion::reshape(x, extents);
#endif
}

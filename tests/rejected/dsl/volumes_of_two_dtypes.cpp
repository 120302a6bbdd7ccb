// expect: volumes and filters have different dtypes; pn::cast<T>(x) converts one of them
// Volumes of float are convolved with filters of double.
#include <pinion/graph.hpp>
#include <pinion/op/volume/functions.hpp>

auto convolve(pinion::expr<float> volumes, pinion::expr<double> filters) {
#ifdef ACCEPT
  return pinion::conv3d(volumes, pinion::cast<float>(filters));
#else
  return pinion::conv3d(volumes, filters);
#endif
}

// expect: the window of a convolution layer has two extents: conv2d(images, 32, {3, 3})
// A window has a height and a width.
#include <pinion/graph.hpp>

auto features(const pinion::expr<float>& images) {
#ifdef ACCEPT
  return pinion::nn::conv2d(images, 32, {3, 3});
#else
  return pinion::nn::conv2d(images, 32, 3);
#endif
}

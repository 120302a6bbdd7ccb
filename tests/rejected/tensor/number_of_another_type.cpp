// expect within 5 of 15: tensor<T>(T(2)) is a scalar
// A tensor of float is made from an int.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  return pinion::tensor<float>(2.0f);
#else
  return pinion::tensor<float>(2);
#endif
}

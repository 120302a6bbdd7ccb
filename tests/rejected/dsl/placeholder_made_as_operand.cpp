// expect: store it first
// A placeholder that nobody could ever feed.
#include <pinion/graph.hpp>

auto product(pinion::expr<float> a) {
#ifdef ACCEPT
  auto x = pinion::placeholder<float>({2, 2});
  return pinion::matmul(a, x);
#else
  return pinion::matmul(a, pinion::placeholder<float>({2, 2}));
#endif
}

// expect: the axes of a reduction are a list: {.axes = {1}}, or reduce_sum(x, 1) for one
// The option is called axes.
#include <pinion/graph.hpp>

auto sums(const pinion::expr<float>& x) {
#ifdef ACCEPT
  return pinion::reduce_sum(x, {.axes = {1}});
#else
  return pinion::reduce_sum(x, {.axis = 1});
#endif
}

// expect: ids are int32 or int64; pn::cast<int>(x) converts
// Rows whose segments are no whole numbers.
#include <pinion/graph.hpp>

auto totals(pinion::expr<float> x) {
#ifdef ACCEPT
  return segment_sum(x, pinion::cast<int>(x), {.segments = 3});
#else
  return segment_sum(x, x, {.segments = 3});
#endif
}

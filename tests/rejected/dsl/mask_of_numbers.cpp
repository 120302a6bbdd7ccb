// expect: a mask is of bools; x != 0 makes them
// Rows that are chosen by numbers, as if these were true or false.
#include <pinion/graph.hpp>

auto chosen(pinion::expr<float> x, pinion::expr<int> counts) {
#ifdef ACCEPT
  return boolean_mask(x, counts != 0);
#else
  return boolean_mask(x, counts);
#endif
}

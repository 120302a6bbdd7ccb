// expect: comparisons take numbers; &&, || and ! take bools
// bools are not compared.
#include <pinion/graph.hpp>

auto same(pinion::expr<bool> a, pinion::expr<bool> b) {
#ifdef ACCEPT
  return (a && b) || (!a && !b);
#else
  return a == b;
#endif
}

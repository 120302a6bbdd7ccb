// expect: pn::cast<float>(x) makes numbers of bools
// a curve is of numbers.
#include <pinion/graph.hpp>
#include <pinion/train/summary/summary.hpp>

auto curve(pinion::expr<bool> x) {
#ifdef ACCEPT
  return pinion::train::summary::scalar("x", pinion::cast<float>(x));
#else
  return pinion::train::summary::scalar("x", x);
#endif
}

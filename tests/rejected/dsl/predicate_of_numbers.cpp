// expect: the predicate of cond is a bool expression
// A choice by a number.
#include <pinion/session.hpp>

auto program(pinion::expr<float> x, pinion::expr<bool> p) {
#ifdef ACCEPT
  return pinion::cond(
      x > 0.0f, [&] { return x; }, [&] { return -x; });
#else
  return pinion::cond(
      x, [&] { return x; }, [&] { return -x; });
#endif
}

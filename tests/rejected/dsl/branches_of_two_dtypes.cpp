// expect: the branches of cond yield values of different number or dtypes; pn::cast<T>(x) converts
// Branches that yield values of two dtypes.
#include <pinion/session.hpp>

auto program(pinion::expr<float> x, pinion::expr<bool> p) {
#ifdef ACCEPT
  return pinion::cond(
      p, [&] { return x; }, [&] { return 1.0f; });
#else
  return pinion::cond(
      p, [&] { return x; }, [&] { return 1; });
#endif
}

// expect: the function of a body returns nothing: return what it computes, or its operation
// A branch that forgets to return.
#include <pinion/session.hpp>

auto program(pinion::expr<float> x, pinion::expr<bool> p) {
#ifdef ACCEPT
  return pinion::cond(
      p, [&] { return pinion::no_op(); }, [&] { return pinion::no_op(); });
#else
  return pinion::cond(
      p, [&] { pinion::no_op(); }, [&] { pinion::no_op(); });
#endif
}

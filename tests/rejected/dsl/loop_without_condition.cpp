// expect: the condition of while_loop returns one bool expression
// A loop whose condition is a number.
#include <pinion/session.hpp>

auto program(pinion::expr<float> x, pinion::expr<bool> p) {
#ifdef ACCEPT
  return pinion::while_loop([](auto i) { return i < 3; }, [](auto i) { return i + 1; }, 0);
#else
  return pinion::while_loop([](auto i) { return i - 3; }, [](auto i) { return i + 1; }, 0);
#endif
}

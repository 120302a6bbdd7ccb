// expect: the body of while_loop returns as many values as there are variables, of their dtypes; pn::cast<T>(x) converts
// A loop of two variables whose body yields one.
#include <pinion/session.hpp>

auto program(pinion::expr<float> x, pinion::expr<bool> p) {
#ifdef ACCEPT
  return pinion::while_loop([](auto i, auto) { return i < 3; },
                            [](auto i, auto y) {
                              return std::tuple{i + 1, y};
                            },
                            0, x);
#else
  return pinion::while_loop([](auto i, auto) { return i < 3; }, [](auto i, auto y) { return i + 1; }, 0, x);
#endif
}

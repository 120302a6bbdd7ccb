// expect: does not fit in one node
// A scalar function of more instructions than the compiler's programs have room for.
#include <pinion/graph.hpp>

struct polynomial {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
#ifdef ACCEPT
    constexpr int terms = 20;
#else
    constexpr int terms = 70;
#endif
    V y = x * x;
    for (int i = 0; i < terms; ++i) {
      const V product = y * x;
      y = product + x;
    }
    return y;
  }
};

auto value(pinion::expr<float> x) {
  return pinion::map<polynomial>(x);
}

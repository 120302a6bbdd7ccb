// expect: a function of one's own is computed on floating-point expressions; pn::cast<float>(x) converts
// A scalar function of one's own, of integers.
#include <pinion/graph.hpp>

struct doubled {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    return x + x;
  }
};

auto program(pinion::expr<int> x) {
#ifdef ACCEPT
  return pinion::map<doubled>(pinion::cast<float>(x));
#else
  return pinion::map<doubled>(x);
#endif
}

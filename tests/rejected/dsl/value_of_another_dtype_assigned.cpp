// expect: the value has another dtype than the variable; pn::cast<T>(x) converts
// A variable keeps its dtype.
#include <pinion/graph.hpp>

auto set(pinion::variable_handle<float> v, pinion::expr<double> x) {
#ifdef ACCEPT
  return pinion::assign(v, pinion::cast<float>(x));
#else
  return pinion::assign(v, x);
#endif
}

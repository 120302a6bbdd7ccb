// expect within 5 of 15: tensors are values on the host, and ops take expressions: wrap one in pn::constant(t)
// A tensor on the host beside an expression.
#include <pinion/graph.hpp>

auto product(const pinion::tensor<float>& a, pinion::expr<float> x) {
#ifdef ACCEPT
  return pinion::constant(a) * x;
#else
  return a * x;
#endif
}

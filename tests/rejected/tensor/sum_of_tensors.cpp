// expect within 5 of 15: tensors are values on the host, and ops take expressions: wrap one in pn::constant(t)
// Tensors on the host are no operands; a scalar one is its value.
#include <pinion/graph.hpp>

auto sum(const pinion::tensor<float>& a, const pinion::tensor<float>& b) {
#ifdef ACCEPT
  (void)(a + 1.0f), (void)(a < b), (void)-a;
  return pinion::constant(a) + pinion::constant(b);
#else
  return a + b;
#endif
}

// expect: unknown_field
// A place is parsed by the compiler.
#include <pinion/graph.hpp>

auto made(pinion::expr<float> x) {
#ifdef ACCEPT
  return pinion::place<"/gpu:0">(x);
#else
  return pinion::place<"/gppu:0">(x);
#endif
}

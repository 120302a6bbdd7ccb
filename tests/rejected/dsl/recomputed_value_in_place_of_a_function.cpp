// expect: recompute takes a function that builds the part: [&] { return block(x); }
// A part that is built before it is marked.
#include <pinion/session.hpp>

auto program(const pinion::expr<float>& x) {
#ifdef ACCEPT
  return pinion::recompute([&] { return pinion::expr<float>(pinion::sin(x)); });
#else
  return pinion::recompute(pinion::expr<float>(pinion::sin(x)));
#endif
}

// expect: texts are not compared
// Text is moved, chosen and stored; nothing computes with it.
#include <string>

#include <pinion/graph.hpp>

auto chosen(pinion::expr<bool> c, pinion::expr<std::string> a, pinion::expr<std::string> b) {
#ifdef ACCEPT
  return pinion::select(c, a, b);
#else
  return pinion::select(c && a == b, a, b);
#endif
}

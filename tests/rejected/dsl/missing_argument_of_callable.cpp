// expect within 5 of 15: a callable takes one value for each of its feeds, of its dtype
// A callable with two feeds is called with one value.
#include <pinion/session.hpp>

auto call(pinion::session& s, pinion::expr<float> x, pinion::expr<float> y) {
  auto step = s.make_callable(pinion::feeds(x, y), pinion::fetches(x));
#ifdef ACCEPT
  return step(1.0f, 2.0f);
#else
  return step(1.0f);
#endif
}

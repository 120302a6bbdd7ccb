// expect within 5 of 15: a callable takes one value for each of its feeds, of its dtype
// expect: feed_list<float>
// expect: tensor<double>
// A callable made for float is called with double.
#include <pinion/session.hpp>

auto call(pinion::session& s, pinion::expr<float> x) {
  auto step = s.make_callable(pinion::feeds(x), pinion::fetches(x));
#ifdef ACCEPT
  return step(pinion::tensor<float>({2}));
#else
  return step(pinion::tensor<double>({2}));
#endif
}

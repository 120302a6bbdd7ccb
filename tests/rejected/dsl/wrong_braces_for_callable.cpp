// expect within 5 of 15: a callable takes one value for each of its feeds, and these braces hold what does not convert to it
// A callable made for int and float is called with braces of text.
#include <pinion/session.hpp>

auto call(pinion::session& s, pinion::expr<int> x, pinion::expr<float> y) {
  auto step = s.make_callable(pinion::feeds(x, y), pinion::fetches(x));
#ifdef ACCEPT
  step({1, 2}, 3);
  return step({{1, 2}, {3, 4}}, {});
#else
  return step({"1", "2"}, pinion::tensor<float>({2}));
#endif
}

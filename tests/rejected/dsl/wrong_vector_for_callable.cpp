// expect within 5 of 15: a callable takes one value for each of its feeds, of its dtype
// A callable takes vectors and braces, of its dtypes.
#include <vector>

#include <pinion/session.hpp>

auto call(pinion::session& s, pinion::expr<float> x, pinion::expr<int> y) {
  auto step = s.make_callable(pinion::feeds(x, y), pinion::fetches(x));
#ifdef ACCEPT
  step({{1, 2}, {3, 4}}, {0, 1});
  return step(std::vector<std::vector<float>>{{1, 2}, {3, 4}}, std::vector<int>{0, 1});
#else
  return step(std::vector<float>{1, 2}, std::vector<float>{0, 1});
#endif
}

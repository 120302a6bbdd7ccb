// expect within 5 of 15: these braces hold what does not convert to the dtype of what they are fed to
// A float placeholder is fed braces of text.
#include <pinion/session.hpp>

void feed(pinion::session& s, pinion::expr<float> x) {
#ifdef ACCEPT
  s.run({{x, {{1, 2}, {3, 4}}}}, x);
#else
  s.run({{x, {{"1", "2"}, {"3", "4"}}}}, x);
#endif
}

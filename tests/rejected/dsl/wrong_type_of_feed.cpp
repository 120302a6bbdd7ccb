// expect within 5 of 15: a feed has the dtype of what it is fed to
// A float placeholder is fed a tensor of double.
#include <pinion/session.hpp>

void feed(pinion::session& s, pinion::expr<float> x, pinion::tensor<float> f, pinion::tensor<double> d) {
#ifdef ACCEPT
  (void)d;
  s.run({{x, f}}, x);
#else
  (void)f;
  s.run({{x, d}}, x);
#endif
}

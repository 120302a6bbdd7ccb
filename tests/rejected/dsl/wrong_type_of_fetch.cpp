// expect: tensor<double>
// The value of a float expression is no tensor of double.
#include <pinion/session.hpp>

void fetch(pinion::session& s, pinion::expr<float> x) {
#ifdef ACCEPT
  pinion::tensor<float> t = s.run(x);
#else
  pinion::tensor<double> t = s.run(x);
#endif
}

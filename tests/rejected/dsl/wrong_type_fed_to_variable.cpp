// expect within 5 of 15: a feed has the dtype of what it is fed to
// A variable of float is fed int.
#include <pinion/session.hpp>

void feed(pinion::session& s, pinion::variable_handle<float> w) {
#ifdef ACCEPT
  s.run({{w, pinion::tensor<float>({2})}}, w);
#else
  s.run({{w, pinion::tensor<int>({2})}}, w);
#endif
}

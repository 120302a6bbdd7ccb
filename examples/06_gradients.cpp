// Gradient descent by hand: gradients are expressions, and assign_sub applies them.
//
//   w, c ── y = w x + c ── loss = mean((y - t)^2)
//    ^                        |
//    └── assign_sub ── d loss / d w, c
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::constant<float>({0, 1, 2, 3}, "x");
  auto t = pn::constant<float>({1, 3, 5, 7}, "t");  // 2 x + 1
  auto w = pn::variable(0.0f, {.name = "w"});
  auto c = pn::variable(0.0f, {.name = "c"});
  auto loss = pn::reduce_mean(pn::square(w * x + c - t));
  auto [dw, dc] = pn::gradients(loss, w, c);
  auto step = pn::group(pn::assign_sub(w, 0.1f * dw), pn::assign_sub(c, 0.1f * dc));

  pn::session sess;
  sess.run(pn::global_variables_initializer());
  for (int i = 0; i <= 80; ++i) {
    if (i % 20 == 0) {
      auto [l, wv, cv] = sess.run(loss, w, c);
      fmt::print("step {:2}: loss {:.4f}, w {:.3f}, c {:.3f}\n", i, float(l), float(wv), float(cv));
    }
    sess.run(step);
  }
}

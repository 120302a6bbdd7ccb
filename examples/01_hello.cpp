// Two variables on one device, their product on another.
//
//   a = 3 ──┐
//           ├── c = a * b ── 12
//   b = 4 ──┘
//   /cpu:0     /gpu:0
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  pn::device here("/cpu:0");
  auto a = pn::variable(3.0f, {.name = "a"});
  auto b = pn::variable(4.0f, {.name = "b"});
  pn::device there("/gpu:0");  // guards nest: the inner one wins
  auto c = a * b;

  pn::session sess{{.simulated = {pn::sim::gpu()}}};  // a pretend GPU, so that this runs everywhere
  fmt::print("{}\n", sess.plan(c));
  sess.run(pn::global_variables_initializer());
  float product = sess.run(c);
  fmt::print("a * b = {}\n", product);
}

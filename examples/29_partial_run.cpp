// One step in two calls: what the first fetches decides what the second feeds.
//
//   x ──> mean ──> the program ──> factor
//   └──────> y = factor * x - mean <──┘
//
#include <pinion/runtime/partial_run.hpp>
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto factor = pn::placeholder<float>({}, "factor");
  auto seen = pn::variable(0, {.name = "seen"});
  pn::expr<float> mean, y;
  {
    pn::control_dependencies counted{pn::assign_add(seen, 1)};
    mean = pn::reduce_mean(x);
    y = pn::identity(factor * x - mean, "y");
  }

  pn::session sess;
  sess.run(seen.initializer());
  pn::partial_run step(sess, pn::feeds(x, factor), pn::fetches(mean, y));
  const float m = step.run({{x, {1, 2, 6}}}, mean);
  fmt::print("the mean is {}\n", m);
  try {
    step.run(y);
  } catch (const pn::error& e) {
    fmt::print("{}\n", e.what());
  }
  fmt::print("{}\n", step.run({{factor, m > 2 ? 10.f : 1.f}}, y));
  fmt::print("the nodes of the step ran {} time(s)\n", int(sess.run(seen)));
}

// One expression for units that are compiled with different flags.
#pragma once

#include <pinion/session.hpp>
#include <vector>

// Static, so that each unit has its own; the library's templates are shared by both.
static pinion::expr<float> model() {
  const pinion::expr<float> x = pinion::constant<float>({-2, -.5f, 0, .25f, 3});
  return pinion::tanh(x * 1.25f + .5f) / (1.f + pinion::exp(-x));
}

static std::vector<float> run_model() {
  pinion::graph g;
  const auto use = g.as_default();
  pinion::session sess;
  const pinion::tensor<float> y = sess.run(model());
  return {y(0), y(1), y(2), y(3), y(4)};
}

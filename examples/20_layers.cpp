// A model built in a loop: every expression of float converts to the storable pn::expr<float>.
//
//   X [?, 2] ── (MatMul ── bias, elu) x 3 ── MatMul ── scores [?, 1]
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto X = pn::placeholder<float>({pn::unknown, 2}, "X");
  pn::expr<float> h = X;
  for (int i = 1; i <= 3; ++i) {
    const pn::name_scope layer("layer");
    auto W = pn::variable(pn::truncated_normal<float>({h.shape()[1], 8}, {.stddev = .5, .seed = i}), {.name = "W"});
    auto b = pn::variable(pn::tensor<float>({8}), {.name = "b"});
    h = pn::elu(pn::matmul(h, W) + b);
    fmt::print("{:<12} {}\n", h.name(), to_string(h.shape()));
  }
  auto V = pn::variable(pn::truncated_normal<float>({8, 1}, {.stddev = .5, .seed = 4}), {.name = "V"});
  pn::expr<float> scores = pn::matmul(h, V);

  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const auto batch = pn::tensor<float>::of({{0, 0}, {1, 2}, {3, 4}});
  pn::tensor<float> out = sess.run({{X, batch}}, scores);
  for (int row = 0; row < 3; ++row) fmt::print("score {}: {:.3f}\n", row, out(row, 0));
}

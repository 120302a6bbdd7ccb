// A program that uses ten ops: placeholder, constant, variable, matmul, add, elu, softmax cross entropy, a mean, argmax
// and an assignment, and their gradients.
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto X = pn::placeholder<float>({pn::unknown, 4}, "X");
  auto y = pn::placeholder<int>({pn::unknown}, "y");
  auto W = pn::variable(pn::constant<float>({{1, 2}, {3, 4}, {5, 6}, {7, 8}}), {.name = "W"});
  auto h = pn::elu(pn::matmul(X, W) + 1.0f);
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, h));
  auto [g] = pn::gradients(loss, W);
  auto step = pn::assign_sub(W, 0.1f * g);
  pn::session sess;
  sess.run(W.initializer());
  sess.run({{X, {{1, 2, 3, 4}}}, {y, pn::tensor<int>{{1}}}}, step, pn::argmax(h, 1));
}

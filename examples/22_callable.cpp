// A step prepared once and called often; what goes in and comes out is checked by the compiler.
//
//   step(x, k) ── y = k * x, total += sum(y) ── (y, total)
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto k = pn::placeholder<float>(pn::shape{}, "k");
  auto sum = pn::variable(0.0f, {.name = "sum"});
  auto y = k * x;
  auto total = pn::assign_add(sum, pn::reduce_sum(y));

  pn::session sess;
  sess.run(sum.initializer());
  auto step = sess.make_callable(pn::feeds(x, k), pn::fetches(y, total));
  for (int i = 1; i <= 3; ++i) {
    auto [scaled, so_far] = step(pn::tensor<float>::of({1, 2, 3}), float(i));
    fmt::print("{} adds up to {}\n", scaled, float(so_far));
  }
  try {
    step(pn::tensor<float>({2, 2}), 1.0f);
  } catch (const pn::error& e) {
    fmt::print("{}\n", e.what());
  }
}

// Control flow in a graph: a loop, a choice, and the gradient through both.
//
//   x0 ── while |x * x - a| > 1e-6: x = (x + a / x) / 2 ── root ── cond(root > 2, root, root * a) ── y
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto a = pn::placeholder<double>({}, "a");
  // Newton's method. The functions are called once, with expressions; what they use from outside is an argument.
  const auto goes_on = [&](auto, auto x) { return pn::abs(x * x - a) > 1e-6; };
  const auto body = [&](auto n, auto x) { return std::tuple{n + 1, (x + a / x) / 2.0}; };
  auto [iterations, root] = pn::while_loop({.maximum_iterations = 50}, goes_on, body, 0, 1.0);
  const auto as_it_is = [root = root] { return root; };
  const auto scaled = [&, root = root] { return root * a; };
  auto y = pn::cond(root > 2.0, as_it_is, scaled);
  auto [slope] = pn::gradients(y, a);

  pn::session sess;
  for (double value : {2.0, 9.0}) {
    auto [n, r, f, df] = sess.run({{a, value}}, iterations, root, y, slope);
    fmt::print("a = {}: {} iterations, root {:.6f}, y {:.6f}, dy/da {:.6f}\n", value, int(n), double(r), double(f),
               double(df));
  }
}

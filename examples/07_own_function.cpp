// A scalar function of one's own: it fuses with what stands around it, and its derivative follows, or is stated.
//
//   x, w ── [ * 2, + w, Swish ] ── y        one node, one pass
//
#include <pinion/session.hpp>

namespace pn = pinion;

// x / (1 + e^-x), from Ramachandran, Zoph and Le (2017); differentiated by the library.
struct swish {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Swish";
  template <class V>
  static constexpr auto apply(V x) {
    return x / (1.0 + exp(-x));
  }
};

// Rounded, but differentiated as if it were not: the straight-through estimator.
struct quantized {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Quantized";
  template <class V>
  static constexpr auto apply(V x) {
    const auto steps = x * 8.0;
    const auto y = round(steps) / 8.0;
    return with_derivative(y, x, x * 0.0 + 1.0);
  }
};

int main() {
  auto x = pn::placeholder<float>({3}, "x"), w = pn::placeholder<float>({3}, "w");
  auto y = pn::map<swish>(2 * x + w);
  auto z = pn::map<quantized>(x);
  auto [gx] = pn::gradients(y, x);
  auto [gz] = pn::gradients(z, x);
  fmt::print("{} ({}) computes\n{}\n", y.name(), y.op(), to_string(pn::op::program_of(y.node().attrs)));

  pn::session sess;
  const auto at = pn::tensor<float>::of({-1.f, 0.f, 1.3f}), zeros = pn::tensor<float>::of({0.f, 0.f, 0.f});
  auto [a, b, c, d] = sess.run({{x, at}, {w, zeros}}, y, gx, z, gz);
  fmt::print("{}\n{}\n{}\n{}\n", pn::to_string(a), pn::to_string(b), pn::to_string(c), pn::to_string(d));
}

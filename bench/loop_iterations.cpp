// What an iteration of while_loop costs, and with its gradient: beside a loop written by hand, JAX, a call of a
// prepared step for each iteration, and the same nodes written out one behind the other.
#include <string>
#include <tuple>
#include <vector>

#include <pinion/scalar/maths.hpp>
#include <pinion/session.hpp>

#include "peer.hpp"

namespace {

namespace pn = pinion;
namespace ps = pinion::scalar;

constexpr int width = 64, iterations = 1000;

// y = tanh(y / 2), again and again; every y is kept.
struct loop_by_hand {
  template <class Isa>
  static PINION_INLINE void run(float* y, int count) {
    using V = ps::simd<float, Isa>;
    for (int t = 0; t < count; ++t, y += width)
      for (int i = 0; i < width; i += V::lanes) tanh(V::load(y + i) * 0.5f).store(y + width + i);
  }
};
// The slope of the last y, from the y that were kept.
struct slopes_by_hand {
  template <class Isa>
  static PINION_INLINE void run(const float* y, float* slope, int count) {
    using V = ps::simd<float, Isa>;
    for (int i = 0; i < width; ++i) slope[i] = 1;
    for (int t = count; t > 0; --t)
      for (int i = 0; i < width; i += V::lanes) {
        const V out = V::load(y + t * width + i);
        (V::load(slope + i) * (V(1.0f) - out * out) * V(0.5f)).store(slope + i);
      }
  }
};

struct loops {
  pn::graph g;
  pn::expr<float> x, n, y, slope, one, chain;

  loops() {
    const auto use = g.as_default();
    auto start = pn::placeholder<float>({width}, "x"), count = pn::placeholder<float>({}, "n");
    auto [i, last] = pn::while_loop([&](auto iteration, auto) { return iteration < count; },
                                    [](auto iteration, auto value) {
                                      return std::tuple{iteration + 1.0f, pn::tanh(value * 0.5f)};
                                    },
                                    0.0f, start);
    auto [back] = pn::gradients(pn::reduce_sum(last), start);
    pn::expr<float> row = start;
    for (int k = 0; k < iterations; ++k) row = pn::tanh(row * 0.5f);
    x = start, n = count, y = last, slope = back, one = pn::tanh(start * 0.5f), chain = row;
  }
};

}  // namespace

int main() {
  loops l;
  pn::session sess{{.graph = &l.g, .inter_op_threads = 1, .intra_op_threads = 1, .optimize = false}};
  const pn::tensor<float> in{{width}};
  auto step = sess.make_callable(pn::feeds(l.x), pn::fetches(l.one));
  auto loop = sess.make_callable(pn::feeds(l.x, l.n), pn::fetches(l.y));
  auto back = sess.make_callable(pn::feeds(l.x, l.n), pn::fetches(l.slope));
  auto flat = sess.make_callable(pn::feeds(l.x), pn::fetches(l.chain));
  std::vector<float> kept((iterations + 1) * width), slope(width);

  bench::contest c;
  const int forward = c.add("while_loop", bench::thread_seconds, [&] { loop(in, float(iterations)); });
  const int both = c.add("while_loop", bench::thread_seconds, [&] { back(in, float(iterations)); });
  const int calls = c.add("calls of a prepared step", bench::thread_seconds, [&] {
    for (int t = 0; t < iterations; ++t) step(in);
  });
  const int row = c.add("nodes in a row", bench::thread_seconds, [&] { flat(in); });
  const int hand =
      c.add("by hand", bench::thread_seconds, [&] { ps::dispatch<loop_by_hand>(kept.data(), iterations); });
  const int hand_back = c.add("by hand", bench::thread_seconds, [&] {
    ps::dispatch<loop_by_hand>(kept.data(), iterations);
    ps::dispatch<slopes_by_hand>(static_cast<const float*>(kept.data()), slope.data(), iterations);
  });
  const auto size = std::to_string(iterations);
  const int jax = add(c, bench::peer::start("JAX", {"loop", "1", size}));
  const int jax_back = add(c, bench::peer::start("JAX", {"loop_gradient", "1", size}));
  c.run();
  const auto compare = [&](const char* work, int ours, int theirs) {
    if (theirs >= 0) c.row(work, ours, theirs, bench::at_most(2), iterations);
  };
  compare("an iteration, tanh of 64 floats", forward, jax);
  compare("an iteration, tanh of 64 floats", forward, hand);
  compare("an iteration, tanh of 64 floats", row, hand);
  compare("an iteration, tanh of 64 floats", calls, hand);
  compare("an iteration and its gradient", both, jax_back);
  compare("an iteration and its gradient", both, hand_back);
}

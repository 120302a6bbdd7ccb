// What a turn of while_loop costs, beside the two other ways to do a thing often: one call of a prepared step for each
// turn, and the same nodes written out one behind the other.
//
//   loop_turns [turns]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include <pinion/session.hpp>

namespace pn = pinion;

namespace {

// Seconds of the fastest of some calls.
template <class F>
double fastest(F&& call) {
  double best = 1e9;
  for (int k = 0; k < 7; ++k) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 10000;
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::placeholder<float>({64}, "x"), n = pn::placeholder<float>({}, "n");
  auto one = pn::tanh(x * 0.5f);
  auto [i, y] = pn::while_loop([&](auto i, auto) { return i < n; },
                               [](auto i, auto y) {
                                 return std::tuple{i + 1.0f, pn::tanh(y * 0.5f)};
                               },
                               0.0f, x);
  auto [slope] = pn::gradients(pn::reduce_sum(y), x);
  pn::expr<float> chain = x;
  for (int k = 0; k < 1000; ++k) chain = pn::tanh(chain * 0.5f);

  pn::session sess{{.inter_op_threads = 1, .intra_op_threads = 1, .optimize = false}};
  pn::tensor<float> in{{64}};
  auto step = sess.make_callable(pn::feeds(x), pn::fetches(one));
  auto loop = sess.make_callable(pn::feeds(x, n), pn::fetches(y));
  auto back = sess.make_callable(pn::feeds(x, n), pn::fetches(slope));
  auto flat = sess.make_callable(pn::feeds(x), pn::fetches(chain));
  const auto print = [](const char* what, double seconds, double of) {
    std::printf("%-44s %8.0f ns a turn\n", what, seconds / of * 1e9);
  };
  print("a call of a prepared step", fastest([&] {
          for (int k = 0; k < turns; ++k) step(in);
        }),
        turns);
  print("a turn of while_loop", fastest([&] { loop(in, float(turns)); }), turns);
  print("a turn of while_loop and of its gradient", fastest([&] { back(in, float(turns)); }), turns);
  print("a node of 1000 in a row", fastest([&] { flat(in); }), 1000);
}

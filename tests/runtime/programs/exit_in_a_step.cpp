// Ends by exit() while other threads run steps of convolutions and products: of floats, or of doubles if it is told so.
#include <pinion/pinion.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

namespace pn = pinion;

std::atomic<int> steps{0};

void of_floats(pn::session& sess) {
  const auto x = pn::placeholder<float>({8, 32, 32, 16}), w = pn::placeholder<float>({3, 3, 16, 32});
  const auto y = pn::conv2d(x, w, {.padding = pn::padding::same});
  const auto z = pn::matmul(pn::reshape(y, {8 * 32 * 32, 32}), pn::fill<float>({32, 32}, 1.f));
  const pn::tensor<float> images(pn::shape{8, 32, 32, 16}), filters(pn::shape{3, 3, 16, 32});
  for (;; ++steps, steps.notify_one()) sess.run({{x, images}, {w, filters}}, z);
}

void of_doubles(pn::session& sess) {
  const auto x = pn::placeholder<double>({500, 500});
  const auto y = pn::matmul(x, x);
  const pn::tensor<double> matrix(pn::shape{500, 500});
  for (;; ++steps, steps.notify_one()) sess.run({{x, matrix}}, y);
}

}  // namespace

int main(int argc, char**) {
  static pn::graph& g = *new pn::graph;  // the thread uses it to the end of the process
  std::thread([argc] {
    try {
      const auto use = g.as_default();
      pn::session sess;
      argc > 1 ? of_doubles(sess) : of_floats(sess);
    } catch (const pn::error& e) {
      if (e.code() != pn::errc::cancelled) std::_Exit(4);  // otherwise the process is ending
    }
  }).detach();
  for (int seen = 0; seen < 3; seen = steps) steps.wait(seen);
  std::exit(0);
}

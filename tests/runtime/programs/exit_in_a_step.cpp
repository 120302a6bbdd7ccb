// Ends by exit() while another thread runs steps of convolutions and products.
#include <pinion/pinion.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>

int main() {
  namespace pn = pinion;
  static pn::graph& g = *new pn::graph;  // the thread uses it to the end of the process
  static std::atomic<int> steps{0};
  std::thread([] {
    try {
      const auto use = g.as_default();
      const auto x = pn::placeholder<float>({8, 32, 32, 16}), w = pn::placeholder<float>({3, 3, 16, 32});
      const auto y = pn::conv2d(x, w, {.padding = pn::padding::same});
      const auto z = pn::matmul(pn::reshape(y, {8 * 32 * 32, 32}), pn::fill<float>({32, 32}, 1.f));
      const pn::tensor<float> images(pn::shape{8, 32, 32, 16}), filters(pn::shape{3, 3, 16, 32});
      pn::session sess;
      for (;; ++steps, steps.notify_one()) sess.run({{x, images}, {w, filters}}, z);
    } catch (const pn::error& e) {
      if (e.code() != pn::errc::cancelled) std::_Exit(4);  // otherwise the process is ending
    }
  }).detach();
  for (int seen = 0; seen < 3; seen = steps) steps.wait(seen);
  std::exit(0);
}

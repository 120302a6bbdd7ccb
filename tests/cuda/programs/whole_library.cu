// A unit of nvcc's that reads the whole library, runs a graph, and talks to a server.
#include <pinion/pinion.hpp>

#include <cstdio>

namespace pn = pinion;

int main() {
  pn::local_cluster local{{{"worker", 1}}};
  pn::session sess{{.target = local.target("worker", 0)}};
  const auto x = pn::constant<float>({1.f, 2.f});
  const bool is_right = pn::to_string(sess.run(pn::tanh(x) * 0.f + x * 2.f)) == "[2, 4]";
  std::puts(is_right ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return is_right ? 0 : 1;
}

// Two GPUs whose memory is limited: a model on both of them, and programs that share one.
//
//   /gpu:0, 64 KiB     x ── MatMul ──┐
//   /gpu:1, 128 KiB                  └── MatMul_1 ── y     or: one program's half | another's half
//
#include <pinion/session.hpp>

namespace pn = pinion;

const std::vector<pn::sim::accelerator> machine{pn::sim::gpu(64 << 10), pn::sim::gpu(128 << 10)};

// Weights of 36 KiB each: together too large for the first GPU.
void cut_in_two() {
  pn::graph g;
  const auto use = g.as_default();
  auto x = pn::placeholder<float>({1, 64}, "x");
  pn::expr<float> h, y;
  {
    const pn::device on("/gpu:0");
    auto W = pn::variable(pn::ones<float>({64, 144}), {.name = "W"});
    h = pn::matmul(x, W);
  }
  {
    const pn::device on("/gpu:1");
    auto V = pn::variable(pn::ones<float>({144, 64}), {.name = "V"});
    y = pn::matmul(h, V);
  }
  pn::session sess{{.simulated = machine}};
  fmt::print("{}\n", sess.plan(y));
  sess.run(pn::global_variables_initializer());
  fmt::print("y has shape {}\n\n", to_string(sess.run({{x, pn::tensor<float>({1, 64})}}, y).shape()));
}

// A program that takes a part of the second GPU, which is /gpu:0 to it. Here a session stands for each program.
void program(const char* name, double part, int rows) try {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on("/gpu:0");
  auto W = pn::variable(pn::ones<float>({rows, 64}), {.name = "W"});
  auto sum = pn::reduce_sum(W);

  pn::session sess{{.gpu = {.per_process_memory_fraction = part, .visible_devices = "1"}, .simulated = machine}};
  for (const auto& device : sess.list_devices())
    if (device.memory_is_limited) fmt::print("{}: {} has {} bytes\n", name, device.name, device.memory_limit);
  sess.run(W.initializer());
  fmt::print("{}: {}\n", name, float(sess.run(sum)));
} catch (const pn::error& e) {
  fmt::print("{}: {}, {}\n", name, to_string(e.code()), e.what());
}

int main() {
  cut_in_two();
  program("one half", .5, 100);
  program("other half", .5, 300);
  program("all of it", 1, 300);
}

// An int32 variable on the GPU, where it has no kernel: refused by the compiler, refused when placed, or moved.
//
//   n = 7, int32 ── /gpu:0 ?      place<"/gpu:0">: does not compile
//                                 a guard: an error that says what would work
//                                 a guard, and soft placement: /cpu:0
//
#include <pinion/session.hpp>

namespace pn = pinion;

// Where the place is a type, the compiler knows: pn::place<"/gpu:0">(pn::variable(7)) stops it with
//
//   error: static assertion failed: int32 variable on GPU: there is no such kernel; there is one on CPU
//
// It reads what the op declares, which any program may ask:
static_assert(pn::op::variable::kernels.has("GPU", pn::dtype::float32));
static_assert(!pn::op::variable::kernels.has("GPU", pn::dtype::int32));
static_assert(pn::op::variable::kernels.has("CPU", pn::dtype::int32));

int main() {
  const pn::device on("/gpu:0");  // text, which only the placer reads
  auto n = pn::variable(7, {.name = "n"});

  pn::session strict{{.simulated = {pn::sim::gpu()}}};
  try {
    strict.run(n.initializer());
  } catch (const pn::error& e) {
    fmt::print("{}: {}\n\n", to_string(e.code()), e.what());
  }

  pn::session soft{{.allow_soft_placement = true, .simulated = {pn::sim::gpu()}}};
  for (const auto& moved : soft.plan(n).fallbacks())
    fmt::print("{} -> {}: {}\n", moved.name, moved.device, moved.reason);
  soft.run(n.initializer());
  fmt::print("n = {}\n", int(soft.run(n)));
}

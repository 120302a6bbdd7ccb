// A unit of pinion_cuda_sources: its expressions, their gradients and its optimizer's rule have kernels for GPUs in
// this binary, which needs no GPU to have them.
#include <pinion/cuda.hpp>
#include <pinion/op/elementwise/cuda_ahead.hpp>
#include <pinion/op/elementwise/op.hpp>

#include <cstdio>

namespace pn = pinion;

// The nodes with a scalar program of a graph, and those of them that have such a kernel.
static void count(const pn::graph& g) {
  int programs = 0, found = 0;
  for (pn::node_id id = 0; id < g.size(); ++id) {
    const auto* const attribute = g.peek(id).attrs.find("program");
    const auto* const program = attribute ? attribute->get_if<pn::op::shared_program>() : nullptr;
    if (!program) continue;
    ++programs;
    if (pn::op::find_ahead(pn::scalar::executable(**program)))
      ++found;
    else
      std::printf("%s has none:\n%s\n", g.peek(id).op.c_str(), pn::scalar::to_string(**program).c_str());
  }
  std::printf("%d of %d programs\n", found, programs);
}

int main() {
  pn::graph g;
  const auto use = g.as_default();
  auto x = pn::placeholder<float>({pn::unknown, 8}, "x");
  auto w = pn::variable(pn::constant<float>({1, 2, 3, 4, 5, 6, 7, 8}), {.name = "w"});
  auto y = pn::tanh(x * w + .5f) * x;
  (void)pn::gradients(y, w);
  count(g);
}

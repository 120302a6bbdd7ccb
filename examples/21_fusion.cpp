// What fuses: the right side of one expression is one node, computed in one pass; what is stored is a node of its own.
//
//   one:   x, w ── [ square, * 2, + w, exp ] ── y
//   many:  x ── square ── * 2 ── + w ── exp ── z
//
#include <pinion/graph.hpp>

namespace pn = pinion;

void list(const char* title, pn::graph_view g) {
  fmt::print("{}\n", title);
  for (pn::node_id id = 0; id < g.size(); ++id)
    if (g.contains(id)) fmt::print("  {:<28} {}\n", g[id].name, g[id].op);
}

int main() {
  pn::graph one;
  {
    auto use = one.as_default();
    auto x = pn::placeholder<float>({4}, "x"), w = pn::placeholder<float>({4}, "w");
    auto y = pn::exp(pn::square(x) * 2 + w);  // temporaries are absorbed, the name is that of the outermost op
    pn::gradients(y, x);                      // and the backward program is one node too
    list("in one expression, and its gradient:", one);
    fmt::print("\nthe program of {}:\n{}\n\n", y.name(), to_string(pn::op::program_of(y.node().attrs)));
  }
  pn::graph many;
  auto use = many.as_default();
  auto x = pn::placeholder<float>({4}, "x"), w = pn::placeholder<float>({4}, "w");
  auto a = pn::square(x);
  auto b = a * 2;
  auto c = b + w;
  pn::exp(c);  // every call appends its node at once
  list("stored one by one:", many);
}

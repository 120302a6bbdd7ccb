// What the programs of these tests include and do: everything, and enough to need definitions, not only declarations.
#pragma once

#include <pinion/pinion.hpp>

#include <string>

namespace use {

// Builds a small graph and runs it: "[[7, 10], [15, 22]]".
inline std::string touch() {
  namespace pn = pinion;
  pn::graph g;
  const auto use = g.as_default();
  auto v = pn::variable(pn::tensor<float>::of({{1, 2}, {3, 4}}), {.name = "v"});
  auto product = pn::matmul(v, v);
  pn::session sess{{.graph = &g}};
  sess.run(pn::global_variables_initializer());
  return pn::to_string(pn::tensor<float>(sess.run(product)));
}

}  // namespace use

// What the programs of these tests include and do: enough to need definitions, not only declarations. Everything where
// the library is compiled, or where it is asked for: pure headers with clusters take minutes.
#pragma once

#if defined(PINION_COMPILED) || defined(PINION_USE_EVERYTHING)
#include <pinion/pinion.hpp>
#else
#include <pinion/session.hpp>
#endif

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

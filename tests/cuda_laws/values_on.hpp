// The values of one node on a device of a session.
#pragma once

#include "cuda_device/gpus.hpp"
#include "laws/machine.hpp"

namespace cuda_tests {

// Adds the node of a call to the graph in use, under a guard of the device, and runs it with its inputs fed. It yields
// the values of the last run.
inline std::vector<pn::any_tensor> values_on(const std::string& device, pn::graph& g, const laws::call& c,
                                             pn::session& in, int runs = 1) {
  const pn::device on{device};
  pn::run_request request;
  std::vector<pn::output> inputs;
  for (const pn::any_tensor& t : c.inputs) {
    inputs.push_back(
        {build(g, {.op = "Placeholder", .base_name = "in", .attrs = {{"dtype", t.dtype()}, {"shape", t.shape()}}}), 0});
    request.feeds.push_back({pn::any_expr(g, inputs.back()), t});
  }
  const pn::node_id id = build(g, {.op = c.op, .base_name = "node", .inputs = std::move(inputs), .attrs = c.attrs});
  for (int k = 0; k < static_cast<int>(g[id].outputs.size()); ++k) request.fetches.push_back(pn::any_expr(g, {id, k}));
  while (--runs > 0) in.run(request);
  return in.run(request);
}

}  // namespace cuda_tests

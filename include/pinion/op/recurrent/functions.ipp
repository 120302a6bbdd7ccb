// Bodies of <pinion/op/recurrent/functions.hpp>.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/op/recurrent/functions.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL output make_cell(std::string_view op, const any_expr& x, const std::vector<any_expr>& states,
                             const any_expr& u, const recurrent_options& options, source_location where) {
  graph& g = x.owner();
  std::vector<output> inputs{x.endpoint(g)};
  for (const any_expr& state : states) inputs.push_back(state.endpoint(g));
  inputs.push_back(u.endpoint(g));
  if (!options.lengths.empty()) inputs.push_back(endpoint_of(options.lengths, where).endpoint(g));
  const node_id made = build(g, {.op = std::string(op),
                                 .base_name = std::string(op),
                                 .inputs = std::move(inputs),
                                 .attrs = {{"reverse", options.reverse}},
                                 .where = where});
  return {made, 0};
}

}}}  // namespace pinion::v0::dsl

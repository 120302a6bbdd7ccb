// Bodies of <pinion/op/recurrent/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/recurrent/functions.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL output make_cell(graph& g, std::string_view op, std::vector<output> inputs,
                             const recurrent_options& options, source_location where) {
  if (!options.lengths.empty()) inputs.push_back(endpoint_of(options.lengths, where).endpoint(g));
  const node_id made = build(g, {.op = std::string(op),
                                 .base_name = std::string(op),
                                 .inputs = std::move(inputs),
                                 .attrs = {{"reverse", options.reverse}},
                                 .where = where});
  return {made, 0};
}

}}}  // namespace pinion::v0::dsl

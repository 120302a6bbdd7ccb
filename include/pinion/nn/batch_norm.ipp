// Bodies of <pinion/nn/batch_norm.hpp>.
#pragma once

#include <string>

#include <pinion/nn/batch_norm.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL operation update_ops(std::string_view name, source_location where) {
  graph& g = default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = g.collection("update_ops");
  return {g, build(g, std::move(request))};
}

}}}  // namespace pinion::v0::nn

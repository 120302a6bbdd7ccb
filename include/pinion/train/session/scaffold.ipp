// Bodies of <pinion/train/session/scaffold.hpp>.
#pragma once

#include <pinion/graph/called_from.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/train/session/scaffold.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void scaffold::finalize(source_location where) {
  const called_from line(where);
  graph& g = default_graph();
  complete(init_op, g, "init_op", [&] { return group_of(g, "init", g.collection("initializers")); });
  complete(local_init_op, g, "local_init_op",
           [&] { return group_of(g, "init_local", g.collection("local_initializers")); });
  complete(ready_for_local_init_op, g, "ready_for_local_init_op",
           [&] { return reads_of(g, "report_uninitialized_variables", {"variables"}); });
  complete(ready_op, g, "ready_op", [&] {
    return reads_of(g, "report_uninitialized_variables", {"variables", "local_variables"});
  });
  if (!saver) saver = std::make_shared<pinion::train::saver>();
}

PINION_DECL operation scaffold::group_of(graph& g, const std::string& name, const std::vector<node_id>& all) {
  return {g, build(g, {.op = op::no_op::name, .base_name = name, .control_inputs = all})};
}

PINION_DECL operation scaffold::reads_of(graph& g, const std::string& name,
                                         const std::vector<std::string>& collections) {
  std::vector<node_id> reads;
  for (const std::string& c : collections)
    for (const node_id v : g.collection(c)) reads.push_back(variable_of(g, v).read_id(g));
  return group_of(g, name, reads);
}

}}}  // namespace pinion::v0::train

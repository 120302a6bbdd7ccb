// Bodies of <pinion/train/optimizers/slots.hpp>.
#pragma once

#include <utility>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/slices.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/slots.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::shared_ptr<slot_table> make_slot_table() {
  return std::make_shared<slot_table>();
}

PINION_DECL node_id find_slot(const slot_table& made, graph& g, node_id variable, std::string_view name) {
  return made.find(g, variable, name);
}

PINION_DECL node_id find_or_make_slot(slot_table& made, graph& g, node_id variable, std::string_view name,
                                      const std::string& owner, double value) {
  return made.find_or_make(g, variable, name, [&] { return make_slot(g, variable, owner, value); });
}

PINION_DECL node_id make_slot_of_shape(graph& g, node_id variable, const shape& extent, const std::string& owner,
                                       double value) {
  const node v = g[variable];
  if (!extent.known())
    throw error(errc::invalid_argument, "variable '" + v.name + "' has the shape " + to_string(v.outputs[0].shape) +
                                            "; an optimizer needs a known one for its slots")
        .at_node(v.name, v.op, to_string(v.where));
  const control_dependencies none{nullptr};
  const colocate_with near(operation(g, variable));
  const container box(v.attrs.get_or<std::string>("container", ""));
  const std::string name = g.unique_name(v.name + "/" + owner);
  const auto shared = v.attrs.get_or<std::string>("shared_name", "");
  return visit_plain(v.outputs[0].dtype, [&]<class T>() {
    const output initial =
        dsl::make_filled(extent, tensor<T>(static_cast<T>(value)).untyped(), name + "/initial_value", v.where);
    const variable_options options{.trainable = false,
                                   .shared_name = shared.empty() ? "" : shared + name.substr(v.name.size())};
    return dsl::make_variable(dtype_of<T>, initial, name, options, v.where).id(g);
  });
}

PINION_DECL node_id make_slot(graph& g, node_id variable, const std::string& owner, double value) {
  const node_id slot = make_slot_of_shape(g, variable, g[variable].outputs[0].shape, owner, value);
  if (const variable_slice* const part = slice_of(g, variable))
    note_slice(g, slot, {part->whole + g[slot].name.substr(g[variable].name.size()), part->extent, part->first});
  return slot;
}

}}}  // namespace pinion::v0::train

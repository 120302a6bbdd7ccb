// Bodies of <pinion/runtime/optimize/compose_maps.hpp>.
#pragma once

#include <memory>
#include <vector>

#include <pinion/op/elementwise/op.hpp>
#include <pinion/runtime/optimize/compose_maps.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// Returns the program of a consumer with that of a producer inserted at one input; inputs keep their order.
inline scalar::program put_in(const scalar::program& consumer, std::size_t at, const scalar::program& producer) {
  scalar::program whole;
  whole.arithmetic = consumer.arithmetic;
  const auto masks = [](const scalar::program& p) {
    std::vector<bool> mask(p.inputs, false);
    for (const auto& in : p.code)
      if (in.op == scalar::opcode::input_mask) mask[in.a] = true;
    return mask;
  };
  std::vector<scalar::value_id> arguments;
  const auto outer = masks(consumer);
  for (std::size_t i = 0; i < outer.size(); ++i) {
    if (i != at) {
      arguments.push_back(whole.emit_input(outer[i]));
      continue;
    }
    std::vector<scalar::value_id> inner;
    for (const bool mask : masks(producer)) inner.push_back(whole.emit_input(mask));
    arguments.push_back(scalar::append(whole, producer, inner.data()));
  }
  whole.results.push_back({scalar::append(whole, consumer, arguments.data()), consumer.results[0].type});
  return whole;
}

inline const scalar::program* map_program(const node& n) {
  if (n.op == op::map_gradient::name) return nullptr;  // its results are sums, not elementwise values
  if (definition_of(n.op).states != 0) return nullptr;
  const auto* found = n.attrs.find("program");
  const auto* program = found ? found->get_if<op::shared_program>() : nullptr;
  return program && (*program)->results.size() == 1 ? program->get() : nullptr;
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int compose_maps(draft& d) {
  constexpr std::size_t most_instructions = 128, most_inputs = 12;
  int composed = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    if (!d.runs(i) || !detail::map_program(d.node_at(i))) continue;
    for (std::size_t k = 0; k < d.node_at(i).inputs.size(); ++k) {
      const node_id from = d.node_at(i).inputs[k].node;
      const auto* const outer = detail::map_program(d.node_at(i));
      const auto* const inner = d.runs(from) ? detail::map_program(d.node_at(from)) : nullptr;
      if (!inner || d.uses(from) != 1 || d.is_fed(from) || d[from].device != d[i].device) continue;
      const node &producer = d.node_at(from), &consumer = d.node_at(i);
      const bool same_shape =
          producer.outputs[0].shape.known() && producer.outputs[0].shape == consumer.outputs[0].shape;
      const bool joins = inner->arithmetic == outer->arithmetic &&
                         (inner->results[0].type == inner->arithmetic || inner->results[0].type == dtype::boolean);
      if (!same_shape || !joins || !producer.control_inputs.empty() || !consumer.control_inputs.empty()) continue;
      if (inner->inputs + outer->inputs > most_inputs || inner->code.size() + outer->code.size() > most_instructions)
        continue;
      auto program = std::make_shared<const scalar::program>(detail::put_in(*outer, k, *inner));
      const auto is_compiled = [](const scalar::program& p) {
        return scalar::find_compiled(scalar::executable(p)) != nullptr;
      };
      if (!is_compiled(*program) && (is_compiled(*inner) || is_compiled(*outer))) continue;
      std::vector<output> inputs = consumer.inputs;
      inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(k));
      inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(k), producer.inputs.begin(), producer.inputs.end());
      d.fold(from, i);
      node& whole = d.change(i);
      whole.inputs = std::move(inputs);
      whole.attrs.set("program", op::shared_program(std::move(program)));
      ++composed;
      --k;  // the node that is there now may be joined in turn
    }
  }
  return composed;
}

}}}  // namespace pinion::v0::runtime

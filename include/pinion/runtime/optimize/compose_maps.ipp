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

// Returns the program of a node with that of the producer of its k-th input inserted; null where the two do not join.
inline std::shared_ptr<const scalar::program> joined_program(const draft& d, node_id i, std::size_t k) {
  constexpr std::size_t most_instructions = 128, most_inputs = 12;
  const node_id from = d.node_at(i).inputs[k].node;
  const auto* const outer = map_program(d.node_at(i));
  const auto* const inner = d.runs(from) ? map_program(d.node_at(from)) : nullptr;
  if (!inner || d.uses(from) != 1 || d.is_fed(from) || d[from].device != d[i].device) return nullptr;
  const node &producer = d.node_at(from), &consumer = d.node_at(i);
  const bool same_shape = producer.outputs[0].shape.known() && producer.outputs[0].shape == consumer.outputs[0].shape;
  const bool joins = inner->arithmetic == outer->arithmetic &&
                     (inner->results[0].type == inner->arithmetic || inner->results[0].type == dtype::boolean);
  if (!same_shape || !joins || !producer.control_inputs.empty() || !consumer.control_inputs.empty()) return nullptr;
  if (inner->inputs + outer->inputs > most_inputs || inner->code.size() + outer->code.size() > most_instructions)
    return nullptr;
  auto program = std::make_shared<const scalar::program>(put_in(*outer, k, *inner));
  const auto is_compiled = [](const scalar::program& p) {
    return scalar::find_compiled(scalar::executable(p)) != nullptr;
  };
  if (!is_compiled(*program) && (is_compiled(*inner) || is_compiled(*outer))) return nullptr;
  return program;
}

// Gives node `i` the program, and the inputs of the producer of its k-th input in place of that input.
inline void fold_producer(draft& d, node_id i, std::size_t k, std::shared_ptr<const scalar::program> program) {
  const node_id from = d.node_at(i).inputs[k].node;
  const std::vector<output>& inner = d.node_at(from).inputs;
  d.fold(from, i);
  node& whole = d.change(i);
  const auto at = whole.inputs.erase(whole.inputs.begin() + static_cast<std::ptrdiff_t>(k));
  whole.inputs.insert(at, inner.begin(), inner.end());
  whole.attrs.set("program", op::shared_program(std::move(program)));
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int compose_maps(draft& d) {
  int composed = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    if (!d.runs(i) || !detail::map_program(d.node_at(i))) continue;
    for (std::size_t k = 0; k < d.node_at(i).inputs.size();) {
      auto program = detail::joined_program(d, i, k);
      if (!program) {
        ++k;
        continue;
      }
      detail::fold_producer(d, i, k, std::move(program));  // the input that is there now may be joined in turn
      ++composed;
    }
  }
  return composed;
}

}}}  // namespace pinion::v0::runtime

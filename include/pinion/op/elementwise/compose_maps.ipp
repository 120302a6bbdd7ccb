// Bodies of <pinion/op/elementwise/compose_maps.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/op/elementwise/compose_maps.hpp>
#include <pinion/op/elementwise/elementwise_nodes.hpp>
#include <pinion/op/elementwise/join_programs.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/elementwise/symbolic_shapes.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The program of an elementwise node or of the gradient of one; null for other nodes.
inline const scalar::program* map_program(const node& n) {
  const auto* found = n.attrs.find("program");
  const auto* program = found ? found->get_if<op::shared_program>() : nullptr;
  if (!program || (!is_map_gradient(n) && definition_of(n.op).infer != &op::any_map::infer)) return nullptr;
  return program->get();
}

// Tells whether a program takes no more than the shape of an input.
inline bool ignores(const scalar::program& p, std::size_t input) {
  std::vector<bool> is_it;
  for (const scalar::instruction& in : p.code) {
    for (int k = 0; k < scalar::facts(in.op).operands; ++k)
      if (is_it[in.operand(k)]) return false;
    is_it.push_back(in.op == scalar::opcode::input && in.a == input);
  }
  return std::none_of(p.results.begin(), p.results.end(), [&](const auto& r) { return is_it[r.value]; });
}

// Two nodes, of which one reads the other, as they would be one node.
class map_pair {
 public:
  // Looks at node `into` and the producer of its k-th input.
  map_pair(const draft& d, symbolic_shapes& shapes, node_id into, std::size_t k)
      : d_(d), shapes_(shapes), into_(into), read_(d.node_at(into).inputs[k]), is_value_(k >= results()) {}

  bool is_pair() const { return is_value_ && d_.runs(read_.node) && !d_.is_fed(read_.node) && map_program(from()); }
  node_id producer() const { return read_.node; }

  // Prepares the joined node, or tells why the nodes stay apart. Requires: is_pair().
  node_fate::obstacle try_to_join() {
    const auto why = obstacle();
    return why == node_fate::none ? make_program() : why;
  }

  // Makes the change. Requires: try_to_join() found no obstacle.
  void join(draft& d) const {
    op::map_parts parts = op::map_parts::of(whole().attrs, whole().inputs.size());
    if (!appends()) parts.insert(from(), first_, may_fail());
    d.fold(read_.node, into_);
    node& changed = d.change(into_);
    changed.inputs = inputs_;
    changed.attrs.set("program", op::shared_program(program_));
    parts.write(changed.attrs);
  }

 private:
  const node& whole() const { return d_.node_at(into_); }
  const node& from() const { return d_.node_at(read_.node); }
  const scalar::program& outer() const { return *map_program(whole()); }
  const scalar::program& inner() const { return *map_program(from()); }
  bool appends() const { return is_map_gradient(whole()); }
  // The inputs of a gradient that its results belong to come first.
  std::size_t results() const { return appends() ? outer().results.size() : 0; }

  node_fate::obstacle obstacle() const {
    const scalar::result& result = inner().results[static_cast<std::size_t>(read_.index)];
    if (d_.uses(read_.node) != reads()) return d_.is_end(read_.node) ? node_fate::fetched : node_fate::several_readers;
    if (!from().control_inputs.empty() || !whole().control_inputs.empty()) return node_fate::ordered;
    if (d_[read_.node].device != d_[into_].device) return node_fate::other_device;
    if (inner().arithmetic != outer().arithmetic ||
        (result.type != inner().arithmetic && result.type != dtype::boolean))
      return node_fate::cast;
    return same_space() && (!appends() || serves_gradient()) ? node_fate::none : node_fate::other_shape;
  }
  // The number of times that the consumer reads the value alone: once, and more often where it takes the shape, too.
  int reads() const {
    int n = 1;
    for (std::size_t i = 0; i < results(); ++i) n += whole().inputs[i] == read_ && ignores(outer(), i);
    return n;
  }
  // Tells whether the value that is read has the shape of both nodes' spaces.
  bool same_space() const {
    const auto& inputs = whole().inputs;
    const auto follows = [&](const output& in) { return in == read_ || d_.type_of(in).shape == shape{}; };
    if (!is_map_gradient(from()) && std::all_of(inputs.begin(), inputs.end(), follows)) return true;
    const auto* const value = shapes_.of(read_);
    return value && shapes_.space_of(from().inputs) == *value && shapes_.space_of(inputs) == *value;
  }
  // Tells whether an input of the producer has the shape of the value, and no error of the producer needs its name.
  bool serves_gradient() const {
    return stand_in() != from().inputs.end() && !may_fail() &&
           op::map_parts::of(from().attrs, from().inputs.size()).none();
  }
  std::vector<output>::const_iterator stand_in() const {
    const auto* const value = shapes_.of(read_);
    const auto& inputs = from().inputs;
    return std::find_if(inputs.begin(), inputs.end(), [&](const output& in) {
      const auto* const e = shapes_.of(in);
      return e && value && *e == *value;
    });
  }
  // Tells whether the inputs of the producer may fail to broadcast. Those of a gradient did in the node it belongs to.
  bool may_fail() const { return !is_map_gradient(from()) && !shapes_.surely_broadcast(from().inputs); }

  node_fate::obstacle make_program() {
    constexpr std::size_t most_instructions = 128, most_inputs = 12;
    if (inner().inputs + outer().inputs > most_inputs || inner().code.size() + outer().code.size() > most_instructions)
      return node_fate::too_large;
    wire();
    program_ = std::make_shared<const scalar::program>(
        join_programs(outer(), inner(), static_cast<std::size_t>(read_.index), numbers_));
    const auto compiled = [](const scalar::program& p) { return scalar::find_compiled(scalar::executable(p)); };
    return compiled(*program_) || !(compiled(inner()) || compiled(outer())) ? node_fate::none : node_fate::not_compiled;
  }

  // Lists the inputs of the joined node. A map has the inputs of the producer in place of the one that it read. A
  // gradient has them behind its own, the first of which its results belong to; where it took no more than the shape of
  // the value, it takes an input of the producer of that shape.
  void wire() {
    const auto& inputs = whole().inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != read_) {
        numbers_.of_consumer.push_back(add(inputs[i]));
      } else if (i < results()) {
        numbers_.of_consumer.push_back(add(*stand_in()));
      } else {
        numbers_.of_consumer.push_back(joint_inputs::computed);
        first_ = i;
        if (!appends()) add_all(from().inputs);
      }
    }
    if (appends()) add_read();
  }
  int add(const output& in) {
    inputs_.push_back(in);
    return static_cast<int>(inputs_.size()) - 1;
  }
  void add_all(const std::vector<output>& inputs) {
    for (const output& in : inputs) numbers_.of_producer.push_back(add(in));
  }
  // Adds the inputs of the producer whose elements it reads: the inputs of the consumer that stay have its space.
  void add_read() {
    for (std::size_t i = 0; i < from().inputs.size(); ++i)
      numbers_.of_producer.push_back(ignores(inner(), i) ? joint_inputs::unread : add(from().inputs[i]));
  }

  const draft& d_;
  symbolic_shapes& shapes_;
  const node_id into_;
  const output read_;
  const bool is_value_;
  std::vector<output> inputs_;  // of the joined node
  joint_inputs numbers_;
  std::size_t first_ = 0;  // the number of the first input of a map that was the producer's
  std::shared_ptr<const scalar::program> program_;
};

// Tells whether a reader of a plan expects an elementwise node to have joined its reader. A gradient reads what others
// read as well.
inline bool is_worth_a_word(const draft& d, node_id reader, node_fate::obstacle why) {
  return !is_map_gradient(d.node_at(reader)) || (why != node_fate::fetched && why != node_fate::several_readers);
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int compose_maps(draft& d) {
  symbolic_shapes shapes(d);
  int composed = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    cancellable_work::check();
    if (!d.runs(i) || !detail::map_program(d.node_at(i))) continue;
    for (std::size_t k = 0; k < d.node_at(i).inputs.size();) {
      detail::map_pair pair(d, shapes, i, k);
      if (!pair.is_pair()) {
        ++k;
      } else if (const auto why = pair.try_to_join(); why == node_fate::none) {
        pair.join(d);  // the input that is there now may be joined in turn
        ++composed;
      } else {
        if (detail::is_worth_a_word(d, i, why)) d.keep_apart(pair.producer(), i, why);
        ++k;
      }
    }
  }
  return composed;
}

}}}  // namespace pinion::v0::op

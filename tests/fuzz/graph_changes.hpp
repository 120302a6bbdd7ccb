// Lies about nodes: each changes one thing that a peer says of a node of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/wire/graph.hpp>
#include <pinion/graph/attribute_value.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/op/catalogue.hpp>

#include <support/dice.hpp>

namespace fuzz {

using namespace pinion;
using pinion_tests::dice;

inline const std::vector<std::string>& ops() {
  static const auto all = [] {
    std::vector<std::string> names;
    for_each_type(op::catalogue{}, [&]<class Op>() { names.emplace_back(Op::name); });
    return names;
  }();
  return all;
}

inline std::int64_t odd_number(dice& random) {
  constexpr std::int64_t some[] = {0, 1, 2, 3, 7, 8, 31, 64, 1000, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  const std::int64_t n = some[random(std::size(some))];
  return random(3) == 0 && n != INT64_MIN ? -n : n;
}
inline shape odd_shape(dice& random) {
  if (random(6) == 0) return shape::any();
  shape s;
  for (auto left = random(5); left > 0; --left)
    s.push_back(random(4) == 0 ? unknown : static_cast<std::int64_t>(random(random(8) == 0 ? 1 << 20 : 6)));
  return s;
}
inline dtype odd_dtype(dice& random) {
  return static_cast<dtype>(random(pinion::detail::dtype_count));
}

inline attribute odd_attribute(const attribute& old, dice& random);

inline std::shared_ptr<const scalar::program> odd_program(scalar::program p, dice& random) {
  scalar::instruction& in = p.code[random(p.code.size())];
  switch (random(4)) {
    case 0: in.op = static_cast<scalar::opcode>(random(static_cast<std::uint64_t>(scalar::opcode::partial) + 1)); break;
    case 1: in.operand(static_cast<int>(random(3))) = static_cast<scalar::value_id>(random(p.code.size())); break;
    case 2: p.results.push_back(p.results[random(p.results.size())]); break;
    case 3: p.arithmetic = odd_dtype(random); break;
  }
  return std::make_shared<const scalar::program>(std::move(p));
}

// A body whose nodes have the edges that they had, and one of them another op, attribute or output.
inline shared_body odd_body(const body& old, dice& random) {
  auto nodes = distributed::delta_since(old.view()).nodes;
  auto fresh = std::make_shared<body>();
  if (auto& n = nodes[random(nodes.size())]) {
    if (random(3) == 0) n->op = ops()[random(ops().size())];
    if (random(3) == 0) n->outputs.emplace_back();
    if (n->attrs.begin() != n->attrs.end()) {
      const std::string name = n->attrs.begin()->name;
      n->attrs.set(name, odd_attribute(*n->attrs.find(name), random));
    }
  }
  for (auto& n : nodes) fresh->graph.adopt(std::move(n));
  fresh->arguments = old.arguments;
  fresh->results = old.results;
  fresh->targets = old.targets;
  const auto any = [&] { return output{static_cast<node_id>(random(nodes.size() + 1)), static_cast<int>(random(2))}; };
  if (random(4) == 0) fresh->arguments.push_back(any());
  if (random(4) == 0) fresh->results.push_back(any());
  if (random(4) == 0 && !fresh->results.empty()) fresh->results[random(fresh->results.size())] = any();
  if (random(4) == 0) fresh->targets.push_back(any().node);
  return fresh;
}

// Another value of the same type; a tensor stays.
inline attribute odd_attribute(const attribute& old, dice& random) {
  const auto* program = old.get_if<std::shared_ptr<const scalar::program>>();
  if (program && !(*program)->code.empty()) return {odd_program(**program, random)};
  const auto* body = old.get_if<shared_body>();
  if (body && (*body)->view().size() > 0) return {odd_body(**body, random)};
  if (old.get_if<bool>()) return {random(2) == 0};
  if (old.get_if<std::int64_t>()) return {odd_number(random)};
  if (old.get_if<double>()) return {static_cast<double>(odd_number(random)) / 3};
  if (old.get_if<std::string>()) return {ops()[random(ops().size())]};
  if (old.get_if<dtype>()) return {odd_dtype(random)};
  if (old.get_if<shape>()) return {odd_shape(random)};
  if (const auto* list = old.get_if<integers>()) {
    integers other = *list;
    if (random(3) == 0 && !other.empty()) other.pop_back();
    if (random(3) == 0) other.push_back(0);
    if (!other.empty()) other[random(other.size())] = odd_number(random);
    return {other};
  }
  return old;
}

// A tensor or a text of a few elements, or anything of a kind that an op lists.
inline attribute attribute_of_kind(attribute_kind kind, dice& random) {
  const auto number = [&] { return odd_number(random); };
  switch (kind) {
    case attribute_kind::flag: return {random(2) == 0};
    case attribute_kind::integer: return {number()};
    case attribute_kind::number:
    case attribute_kind::real: return {static_cast<double>(number()) / 3};
    case attribute_kind::text: return {ops()[random(ops().size())]};
    case attribute_kind::dtype: return {odd_dtype(random)};
    case attribute_kind::shape: return {odd_shape(random)};
    case attribute_kind::list: {
      integers all(random(7));
      for (std::int64_t& n : all) n = random(2) == 0 ? number() : static_cast<std::int64_t>(random(4));
      return {all};
    }
    case attribute_kind::tensor: {
      const auto rows = static_cast<std::int64_t>(random(4)), columns = static_cast<std::int64_t>(2 + random(2));
      return {any_tensor(random(3) == 0 ? dtype::uint8 : dtype::string, {rows, columns})};
    }
    case attribute_kind::program: {
      auto p = std::make_shared<scalar::program>();
      p->arithmetic = random(2) == 0 ? dtype::float32 : dtype::float64;
      for (auto left = 1 + random(3); left > 0; --left) p->results.push_back({p->emit_input(false), p->arithmetic});
      return {std::shared_ptr<const scalar::program>(std::move(p))};
    }
    case attribute_kind::body: return {std::make_shared<const body>()};
  }
  return {number()};
}

// Gives a node an attribute that some op of the catalogue lists, most often its own, those of passes among them.
inline void add_listed_attribute(node& n, dice& random) {
  const std::string& op = random(4) == 0 ? ops()[random(ops().size())] : n.op;
  if (std::find(ops().begin(), ops().end(), op) == ops().end()) return;
  const attribute_list& rules = *definition_of(op).attrs;
  const auto count = static_cast<std::uint64_t>(rules.end() - rules.begin());
  if (count == 0) return;
  const attribute_rule& rule = rules.begin()[random(count)];
  const auto kind = random(6) == 0 ? static_cast<attribute_kind>(random(10)) : rule.kind;
  n.attrs.set(std::string(rule.name) + (rule.is_numbered ? std::to_string(random(3)) : ""),
              attribute_of_kind(kind, random));
}

inline void change_attribute(node& n, const node& other, dice& random) {
  if (random(3) == 0) return add_listed_attribute(n, random);
  if (random(3) == 0)
    for (const auto& [name, value] : other.attrs) n.attrs.set(name, value);
  std::vector<std::string> names;
  for (const auto& item : n.attrs) names.push_back(item.name);
  if (names.empty()) return;
  const std::string& name = names[random(names.size())];
  if (random(8) == 0)
    n.attrs.set(name, odd_number(random));
  else
    n.attrs.set(name, odd_attribute(*n.attrs.find(name), random));
}

inline void change_output(node& n, dice& random) {
  if (n.outputs.empty() || random(4) == 0) n.outputs.emplace_back();
  output_type& type = n.outputs[random(n.outputs.size())];
  switch (random(4)) {
    case 0: type.dtype = odd_dtype(random); return;
    case 1: type.shape = odd_shape(random); return;
    case 2: type.shape = shape::any(); return;
    case 3: type.reference = !type.reference; return;
  }
}

inline void change_inputs(node& n, const node& other, std::size_t nodes, dice& random) {
  const auto any = [&] { return output{static_cast<node_id>(random(nodes + 1)), static_cast<int>(random(3))}; };
  switch (random(5)) {
    case 0: n.inputs = other.inputs; return;
    case 1: n.inputs.push_back(any()); return;
    case 2:
      if (!n.inputs.empty()) n.inputs.pop_back();
      return;
    case 3:
      if (!n.inputs.empty()) n.inputs[random(n.inputs.size())] = any();
      return;
    case 4: n.control_inputs.push_back(any().node); return;
  }
}

// Changes one thing of a node among others.
inline void change_node(node& n, const node& other, std::size_t nodes, dice& random) {
  switch (random(7)) {
    case 0: n.op = random(2) == 0 ? other.op : ops()[random(ops().size())]; return;
    case 1: n.attrs = other.attrs; return;
    case 2: return change_output(n, random);
    case 3: return change_inputs(n, other, nodes, random);
    case 4: n.requested = parse_device(random(2) == 0 ? "/gpu:0" : "/job:other/cpu:7"); return;
    case 5: n.colocation.push_back(other.name); return;
    default: return change_attribute(n, other, random);
  }
}

// Changes a node or two of a graph.
inline void change_graph(std::vector<std::optional<node>>& nodes, dice& random) {
  std::vector<node*> there;
  for (auto& n : nodes)
    if (n) there.push_back(&*n);
  if (there.empty()) return;
  for (auto left = 1 + random(3); left > 0; --left)
    change_node(*there[random(there.size())], *there[random(there.size())], nodes.size(), random);
}

}  // namespace fuzz

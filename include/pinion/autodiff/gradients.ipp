// Bodies of <pinion/autodiff/gradients.hpp>.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/autodiff/values_again.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/graph/same_device.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

namespace detail {

class reverse_walk {
 public:
  reverse_walk(gradient_context::request r, source_location where)
      : g_(r.of),
        ys_(std::move(r.ys)),
        weights_(std::move(r.gradients_of_ys)),
        xs_(std::move(r.xs)),
        where_(where),
        forward_(g_),
        again_(g_, forward_),
        stops_(r.stops.begin(), r.stops.end()) {}

  std::vector<std::optional<gradient_value>> run() {
    mark();
    const name_scope scope("gradients");
    for (std::size_t i = 0; i < ys_.size(); ++i)
      give(ys_[i], {i < weights_.size() ? weights_[i] : ones_like(ys_[i]), {}, {}});
    for (node_id id = forward_.size(); id-- > 0;)
      if (between(id)) visit(id);
    std::vector<std::optional<gradient_value>> result;
    for (const output& x : xs_) result.push_back(total(x));
    return result;
  }

 private:
  // A node is between if some x leads to it and it leads to some y. No path leads through an input whose elements are
  // not read.
  void mark() {
    from_x_.assign(static_cast<std::size_t>(forward_.size()), false);
    to_y_.assign(static_cast<std::size_t>(forward_.size()), false);
    for (const auto* ends : {&xs_, &ys_})
      for (const output& end : *ends)
        if (!forward_.contains(end.node)) throw error(errc::internal, "an end of a gradient is no node of its graph");
    for (const output& x : xs_) from_x_[at(x.node)] = true;
    for (const output& y : ys_) to_y_[at(y.node)] = true;
    for (node_id id = 0; id < forward_.size(); ++id) {
      if (!forward_.contains(id)) continue;
      const std::vector<output>& inputs = forward_[id].inputs;
      const auto read = static_cast<std::size_t>(definition_of(forward_[id].op).reads);
      for (std::size_t i = 0; i < std::min(read, inputs.size()); ++i)
        if (from_x_[at(inputs[i].node)]) from_x_[at(id)] = true;
      if (variable_read_in_a_body(id)) from_x_[at(id)] = true;
    }
    for (node_id id = forward_.size(); id-- > 0;) {
      if (!forward_.contains(id) || !to_y_[at(id)]) continue;
      for (const output& in : forward_[id].inputs) to_y_[at(in.node)] = true;
    }
  }
  // The variable among the xs that a body of a node reads by its name.
  const node* variable_read_in_a_body(node_id id) const {
    const node* found = nullptr;
    op::any_body(forward_[id], [&](const body& b) {
      for (const output& x : xs_)
        if (forward_.type_of(x).reference && op::reads_state(b, state::key_of(forward_[x.node])))
          found = &forward_[x.node];
      return found != nullptr;
    });
    return found;
  }
  static std::size_t at(node_id id) { return static_cast<std::size_t>(id); }
  bool between(node_id id) const { return from_x_[at(id)] && to_y_[at(id)]; }

  output ones_like(output y) {
    const same_device forward = place_of(forward_[y.node]);
    return {build(g_, {.op = op::ones_like::name, .base_name = "ones_like", .inputs = {y}, .where = where_}), 0};
  }

  // Puts gradient nodes on the device of their forward node.
  static same_device place_of(const node& n) { return {n, "forward op " + n.name}; }

  void visit(node_id id) {
    const node n = forward_[id];
    const bool any = parts_.lower_bound({id, 0}) != parts_.lower_bound({id + 1, 0});
    const bool ends = !any || is_x(id) || stops_.count(id);
    const node_id read = ends ? id : again(id);
    std::vector<std::optional<gradient_value>> adjoints;
    for (int o = 0; o < static_cast<int>(n.outputs.size()); ++o) adjoints.push_back(total({id, o}, {read, o}));
    if (ends) return;
    if (const node* const v = variable_read_in_a_body(id))
      throw error(errc::unimplemented, "the gradient by variable '" + v->name + "' is wanted, which a body of '" +
                                           n.name +
                                           "' reads after something that it waits for there; read it outside the body")
          .at_node(n.name, n.op, to_string(n.where));
    const definition& def = definition_of(n.op);
    if (!def.gradient)
      throw error(errc::unimplemented, "no gradient flows through " + n.op + ": " + std::string(def.no_gradient))
          .at_node(n.name, n.op, to_string(n.where));
    const same_device forward = place_of(n);
    std::vector<bool> wanted;
    for (const output& in : n.inputs) wanted.push_back(between(in.node));
    gradient_context context(g_, read, std::move(adjoints), &autodiff::differentiate, std::move(wanted), id);
    try {
      def.gradient(context);
    } catch (...) {
      throw current_error().at_node(n.name, n.op, to_string(n.where));
    }
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
      if (context.of_input[i] && between(n.inputs[i].node)) give(n.inputs[i], *context.of_input[i]);
  }
  // The node in whose place its gradient reads: a copy that computes it again, or itself. The copies of a part wait for
  // the gradients of the part that are there when the walk reaches it, which are those of all its results.
  node_id again(node_id id) {
    if (!again_.remakes(id)) return id;
    const int part = again_.part_of(id);
    if (!again_.waits(part)) again_.wait(part, gradients_within(part));
    return again_.copy_of(id);
  }
  std::vector<node_id> gradients_within(int part) const {
    std::set<node_id> all;
    for (const auto& [to, values] : parts_)
      if (again_.part_of(to.first) == part)
        for (const gradient_value& v : values) all.insert(v.is_sparse() ? v.rows.node : v.dense.node);
    return {all.begin(), all.end()};
  }
  bool is_x(node_id id) const {
    for (const output& x : xs_)
      if (x.node == id && forward_.type_of(x).reference) return true;
    return false;
  }

  void give(output to, gradient_value value) { parts_[{to.node, to.index}].push_back(value); }

  // The sum of the gradients that an output got from its consumers; `like` has its shape.
  std::optional<gradient_value> total(output o) { return total(o, o); }
  std::optional<gradient_value> total(output o, output like) {
    auto found = parts_.find({o.node, o.index});
    if (found == parts_.end()) return std::nullopt;
    auto& parts = found->second;
    if (parts.size() == 1) return parts[0];
    const same_device forward = place_of(forward_[o.node]);
    if (all_sparse(parts)) {
      parts = {joined(parts)};
      return parts[0];
    }
    output sum = dense(parts[0], like);
    for (std::size_t i = 1; i < parts.size(); ++i) sum = add(sum, dense(parts[i], like));
    parts = {gradient_value{sum, {}, {}}};
    return parts[0];
  }
  // True where all gradients are sparse: their rows together are then the rows of the sum.
  static bool all_sparse(const std::vector<gradient_value>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const gradient_value& v) { return v.is_sparse(); });
  }
  // Indices of two dtypes become int64.
  gradient_value joined(const std::vector<gradient_value>& parts) {
    const auto type_of = [&](const gradient_value& v) { return g_.type_of(v.indices).dtype; };
    const dtype first = type_of(parts[0]);
    const bool is_one = std::all_of(parts.begin(), parts.end(), [&](const auto& v) { return type_of(v) == first; });
    std::vector<output> indices, rows;
    for (const gradient_value& v : parts) {
      indices.push_back(op::cast_to(g_, v.indices, is_one ? first : dtype::int64, where_));
      rows.push_back(v.rows);
    }
    const auto join = [&](std::vector<output> all) {
      return output{build(g_, {.op = op::concat::name,
                               .base_name = "concat",
                               .inputs = std::move(all),
                               .attrs = {{"axis", std::int64_t{0}}},
                               .where = where_}),
                    0};
    };
    const output all_indices = join(std::move(indices));
    return {{}, all_indices, join(std::move(rows))};
  }
  output dense(const gradient_value& v, output like) { return v.is_sparse() ? to_dense(g_, v, like) : v.dense; }
  output add(output a, output b) {
    scalar::program p;
    p.arithmetic = g_.type_of(a).dtype;
    const auto x = p.emit_input(false), y = p.emit_input(false);
    p.results.push_back({p.emit(scalar::opcode::add, x, y), p.arithmetic});
    return {
        build(g_, {.op = op::add::name,
                   .base_name = "AddN",
                   .inputs = {a, b},
                   .attrs = {{"program", op::shared_program(std::make_shared<const scalar::program>(std::move(p)))}},
                   .where = where_}),
        0};
  }

  graph& g_;
  const std::vector<output> ys_, weights_, xs_;
  source_location where_;
  const graph_view forward_;  // the graph without the nodes of its gradients
  values_again again_;
  const std::set<node_id> stops_;
  std::vector<bool> from_x_, to_y_;
  std::map<std::pair<node_id, int>, std::vector<gradient_value>> parts_;
};

}  // namespace detail

PINION_DECL std::vector<std::optional<gradient_value>> differentiate(graph& g, const std::vector<output>& ys,
                                                                     const std::vector<output>& xs,
                                                                     source_location where) {
  return detail::reverse_walk({g, ys, {}, xs, {}}, where).run();
}

PINION_DECL std::vector<std::optional<gradient_value>> differentiate(const gradient_context::request& r) {
  return detail::reverse_walk(r, {}).run();
}

PINION_DECL output to_dense(graph& g, const gradient_value& gradient, output like) {
  if (!gradient.is_sparse()) return gradient.dense;
  return {build(g, {.op = op::scatter_dense::name,
                    .base_name = std::string(op::scatter_dense::name),
                    .inputs = {gradient.indices, gradient.rows, like}}),
          0};
}

}}}  // namespace pinion::v0::autodiff

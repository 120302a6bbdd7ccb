// Bodies of <pinion/op/control/op.hpp>.
#pragma once

#include <string>
#include <vector>

#include <pinion/graph/scope_state.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_arguments(const shape_context& c, const body& b, int first, std::string_view which) {
  if (c.inputs() - first != static_cast<int>(b.arguments.size()))
    c.fail(std::string(which) + " of " + c.op() + " takes " + std::to_string(b.arguments.size()) + " arguments, not " +
           std::to_string(c.inputs() - first));
  for (int i = first; i < c.inputs(); ++i) {
    const output_type& wanted = argument_type(b, static_cast<std::size_t>(i - first));
    if (c.dtype(i) != wanted.dtype)
      c.fail("argument " + std::to_string(i - first) + " of " + std::string(which) + " of " + c.op() + " is " +
             std::string(to_string(wanted.dtype)) + ", but is given " + std::string(to_string(c.dtype(i))));
  }
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void conditional::infer(shape_context& c) {
  const body &then = *c.attrs().get<shared_body>("then"), &otherwise = *c.attrs().get<shared_body>("else");
  if (c.dtype(0) != dtype::boolean) c.fail("the predicate of If is bool, not " + std::string(to_string(c.dtype(0))));
  c.expect_rank(0, 0, "the predicate of If");
  detail::expect_arguments(c, then, 1, "the first branch");
  detail::expect_arguments(c, otherwise, 1, "the second branch");
  const auto results = static_cast<std::size_t>(c.attrs().get<std::int64_t>("results"));
  if (results > then.results.size() || results > otherwise.results.size())
    c.fail("a branch of If yields less than " + std::to_string(results) + " results");
  for (std::size_t i = 0; i < results; ++i) {
    const output_type &a = result_type(then, i), &b = result_type(otherwise, i);
    if (a.dtype != b.dtype)
      c.fail("the branches of If yield " + std::string(to_string(a.dtype)) + " and " + std::string(to_string(b.dtype)) +
             " as result " + std::to_string(i));
    c.output(a.dtype, common_shape(a.shape, b.shape));
  }
  for (const body* branch : {&then, &otherwise})
    for (std::size_t i = results; i < branch->results.size(); ++i)
      c.output(result_type(*branch, i).dtype, shape::any());
}

PINION_DECL void loop::infer(shape_context& c) {
  const body& turn = *c.attrs().get<shared_body>("body");
  const auto variables = c.attrs().get<std::int64_t>("variables"), scanned = c.attrs().get<std::int64_t>("scanned");
  detail::expect_arguments(c, turn, 0, "the body");
  const auto n = static_cast<std::size_t>(variables);
  if (variables < 0 || scanned < 0 || variables > c.inputs() || scanned > c.inputs() - variables ||
      turn.results.size() < n)
    c.fail("While has fewer inputs or results than variables");
  if (c.attrs().has("cond")) {
    const body& cond = *c.attrs().get<shared_body>("cond");
    if (scanned > 0) c.fail("While with a condition scans nothing");
    detail::expect_arguments(c, cond, 0, "the condition");
    if (cond.results.size() != 1 || result_type(cond, 0).dtype != dtype::boolean ||
        !fits(result_type(cond, 0).shape, shape{}))
      c.fail("the condition of While yields one bool");
  } else if (scanned == 0) {
    c.fail("While without a condition needs something to scan");
  }
  for (std::size_t i = 0; i < n; ++i) {
    const output_type &said = argument_type(turn, i), &next = result_type(turn, i);
    const std::string which = "loop variable " + std::to_string(i);
    if (next.dtype != said.dtype)
      c.fail(which + " is " + std::string(to_string(said.dtype)) + ", but the body yields " +
             std::string(to_string(next.dtype)));
    if (!fits(c.shape(static_cast<int>(i)), said.shape))
      c.fail(which + " begins with shape " + to_string(c.shape(static_cast<int>(i))) + ", which its invariant " +
             to_string(said.shape) + " does not admit");
    if (!fits(next.shape, said.shape))
      c.fail(which + " has shape " + to_string(said.shape) + ", but the body yields " + to_string(next.shape) +
             "; give it a shape invariant that admits both");
    c.output(said.dtype, said.shape);
  }
  std::int64_t turns = unknown;
  for (std::int64_t i = variables; i < variables + scanned; ++i) {
    const shape& slices = c.shape(static_cast<int>(i));
    if (slices.has_rank() && slices.rank() == 0) c.fail("While scans a scalar, which has no slices");
    if (slices.has_rank() && turns < 0) turns = slices[0];
  }
  for (std::size_t i = n; i < turn.results.size(); ++i) {
    const shape& each = result_type(turn, i).shape;
    shape all = each.has_rank() && each.rank() < shape::max_rank ? shape{turns} : shape::any();
    for (int k = 0; all.has_rank() && k < each.rank(); ++k) all.push_back(each[k]);
    c.output(result_type(turn, i).dtype, all);
  }
}

// ---- gradients

namespace detail {

// A gradient in a body, dense; zeros of the shape of what it belongs to where there is none.
inline output dense_or_zeros(graph& g, const std::optional<gradient_value>& found, output of) {
  if (!found) return {build(g, {.op = "ZerosLike", .base_name = "zeros", .inputs = {of}}), 0};
  if (!found->is_sparse()) return found->dense;
  return {build(g, {.op = "ScatterDense", .base_name = "ScatterDense", .inputs = {found->indices, found->rows, of}}),
          0};
}

inline output sum_of(graph& g, output a, output b) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = g.type_of(a).dtype;
  const auto x = p->emit_input(false), y = p->emit_input(false);
  p->results.push_back({p->emit(scalar::opcode::add, x, y), p->arithmetic});
  return {build(g, {.op = "Add",
                    .base_name = "add",
                    .inputs = {a, b},
                    .attrs = {{"program", std::shared_ptr<const scalar::program>(p)}}}),
          0};
}

inline std::string gradient_name(const gradient_context& g, std::string_view op) {
  return g.node().name.substr(g.node().name.rfind('/') + 1) + "_grad/" + std::string(op);
}

// A body made into the one that computes its gradients: what it is given beside the arguments it had, and by which
// arguments it is differentiated.
struct backward_body {
  std::shared_ptr<body> made;
  std::vector<output> weights;                       // the arguments that were added, one for each of `ys`
  std::vector<output> wanted;                        // the arguments of floating point that were there
  std::vector<std::optional<gradient_value>> found;  // by each of them

  // `ys`: results of the forward body.
  backward_body(const gradient_context& g, const body& forward, const std::vector<std::size_t>& ys)
      : made(copy_of(forward)) {
    made->results.clear();
    made->targets.clear();
    std::vector<output> ends;
    for (const std::size_t y : ys) {
      ends.push_back(forward.results[y]);
      weights.push_back(add_argument(*made, result_type(forward, y), "gradient", g.node().where));
    }
    for (const output& a : forward.arguments)
      if (is_floating(made->graph.type_of(a).dtype)) wanted.push_back(a);
    const auto use = made->graph.as_default();
    found = g.differentiate({made->graph, ends, weights, wanted, nodes_of(forward.arguments)});
  }

  bool any(std::size_t i) const { return found[i].has_value(); }
  output gradient(std::size_t i) {
    const auto use = made->graph.as_default();
    return dense_or_zeros(made->graph, found[i], wanted[i]);
  }
};

// Which results have a gradient, of the first `count` of a node.
inline std::vector<std::size_t> differentiable(const gradient_context& g, std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i)
    if (g.has_output_gradient(static_cast<int>(i)) && is_floating(g.type_of(g.output(static_cast<int>(i))).dtype))
      all.push_back(i);
  return all;
}

}  // namespace detail

// Both branches are replaced by their gradients. What a branch kept is an argument of its own gradient, and of the
// other's, which does not look at it.
inline void conditional::gradient(gradient_context& g) {
  const body* const branches[] = {g.attrs().get<shared_body>("then").get(), g.attrs().get<shared_body>("else").get()};
  const auto results = static_cast<std::size_t>(g.attrs().get<std::int64_t>("results"));
  std::vector<output> from = g.node().inputs;
  // Gradients may come by what was kept too: from a gradient of this node that is differentiated in turn.
  std::vector<std::vector<std::size_t>> ys(2, detail::differentiable(g, results));
  std::vector<std::vector<int>> outputs_of(2);
  for (std::size_t side = 0, at = results; side < 2; ++side)
    for (std::size_t i = results; i < branches[side]->results.size(); ++i, ++at)
      if (g.has_output_gradient(static_cast<int>(at)) && is_floating(result_type(*branches[side], i).dtype)) {
        ys[side].push_back(i);
        outputs_of[side].push_back(static_cast<int>(at));
      }
  const std::size_t common = detail::differentiable(g, results).size();
  detail::backward_body then(g, *branches[0], ys[0]), otherwise(g, *branches[1], ys[1]);
  detail::backward_body* const backs[] = {&then, &otherwise};
  for (std::size_t i = 0; i < common; ++i) from.push_back(g.output_gradient(static_cast<int>(ys[0][i])));
  // Arguments so far: those of the branch, then its weights. The weights that are the branch's own, and what was kept,
  // stand behind, those of the first branch before those of the second.
  std::vector<std::vector<output>> own(2);
  for (std::size_t side = 0, at = results; side < 2; ++side) {
    auto& arguments = backs[side]->made->arguments;
    own[side].assign(arguments.end() - static_cast<std::ptrdiff_t>(ys[side].size() - common), arguments.end());
    arguments.resize(arguments.size() - own[side].size());
    for (const int o : outputs_of[side]) from.push_back(g.output_gradient(o));
    for (std::size_t i = results; i < branches[side]->results.size(); ++i, ++at) {
      own[side].push_back(branches[side]->results[i]);
      from.push_back(g.output(static_cast<int>(at)));
    }
  }
  for (std::size_t side = 0; side < 2; ++side)
    for (std::size_t of = 0; of < 2; ++of)
      for (const output& o : own[of]) {
        if (of == side)
          backs[side]->made->arguments.push_back(o);
        else
          add_argument(*backs[side]->made, backs[of]->made->graph.type_of(o), "unused", g.node().where);
      }
  std::vector<int> of_input;
  std::size_t k = 0;
  for (std::size_t i = 0; i < branches[0]->arguments.size(); ++i) {
    if (!is_floating(argument_type(*branches[0], i).dtype)) continue;
    if (then.any(k) || otherwise.any(k)) {
      of_input.push_back(static_cast<int>(i) + 1);
      for (detail::backward_body* back : backs) back->made->results.push_back(back->gradient(k));
    }
    ++k;
  }
  if (of_input.empty()) return;
  const node_id made = make_conditional(
      g.owner(), {.base_name = detail::gradient_name(g, name), .inputs = std::move(from), .where = g.node().where},
      then.made, otherwise.made);
  for (std::size_t i = 0; i < of_input.size(); ++i) g.set(of_input[i], {made, static_cast<int>(i)});
}

// A loop the other way round over what was kept of each turn. Its variables are the gradients of this one's variables,
// and the sums of those of its invariants; the gradients of the scanned tensors are collected.
inline void loop::gradient(gradient_context& g) {
  const body& forward = *g.attrs().get<shared_body>("body");
  const auto n = static_cast<std::size_t>(g.attrs().get<std::int64_t>("variables"));
  const auto scanned = static_cast<std::size_t>(g.attrs().get<std::int64_t>("scanned"));
  const auto collected = static_cast<std::size_t>(g.attrs().get<std::int64_t>("collected"));
  std::vector<std::size_t> ys;  // every variable: where a turn gives it no gradient, a later one may
  for (std::size_t i = 0; i < forward.results.size(); ++i) {
    const bool real = is_floating(result_type(forward, i).dtype);
    if (real && (i < n || g.has_output_gradient(static_cast<int>(i)))) ys.push_back(i);
  }
  detail::backward_body back(g, forward, ys);
  body& turn = *back.made;
  const std::vector<output> weights = back.weights;
  turn.arguments.clear();
  std::vector<output> variables, slices, invariants;
  std::vector<std::pair<int, int>> of_input;  // input of this node, output of the new one
  // Gradients of the variables.
  for (std::size_t y = 0; y < ys.size() && ys[y] < n; ++y) {
    turn.arguments.push_back(weights[y]);
    variables.push_back(g.output_gradient(static_cast<int>(ys[y])));
  }
  const auto position = [&](std::size_t argument) {  // among back.wanted
    std::size_t k = 0;
    for (std::size_t i = 0; i < argument; ++i) k += is_floating(argument_type(forward, i).dtype);
    return k;
  };
  for (std::size_t i = 0; i < n; ++i)
    if (is_floating(argument_type(forward, i).dtype)) {
      of_input.emplace_back(static_cast<int>(i), static_cast<int>(turn.results.size()));
      turn.results.push_back(back.gradient(position(i)));
    }
  // Sums of the gradients of the invariants.
  for (std::size_t i = n + scanned; i < forward.arguments.size(); ++i) {
    if (!is_floating(argument_type(forward, i).dtype) || !back.any(position(i))) continue;
    const output sum = add_argument(turn, argument_type(forward, i), "sum", g.node().where);
    const output more = back.gradient(position(i));
    variables.push_back(g.make("ZerosLike", {g.input(static_cast<int>(i))}));
    of_input.emplace_back(static_cast<int>(i), static_cast<int>(turn.results.size()));
    const auto use = turn.graph.as_default();
    turn.results.push_back(detail::sum_of(turn.graph, sum, more));
  }
  const std::size_t count = variables.size();
  // Every turn scans what it was given and kept, and the gradients of what it collected.
  const auto scan = [&](output argument, output stack) {
    turn.arguments.push_back(argument);
    slices.push_back(stack);
  };
  const std::size_t kept = n + collected;  // the first of the results that stand for the variables before the turn
  for (std::size_t i = 0; i < n; ++i) scan(forward.arguments[i], g.output(static_cast<int>(kept + i)));
  for (std::size_t i = 0; i < scanned; ++i) scan(forward.arguments[n + i], g.input(static_cast<int>(n + i)));
  for (std::size_t i = kept + n; i < forward.results.size(); ++i)
    scan(forward.results[i], g.output(static_cast<int>(i)));
  for (std::size_t y = 0; y < ys.size(); ++y)
    if (ys[y] >= n) scan(weights[y], g.output_gradient(static_cast<int>(ys[y])));
  for (std::size_t i = n; i < n + scanned; ++i)
    if (is_floating(argument_type(forward, i).dtype) && back.any(position(i))) {
      of_input.emplace_back(static_cast<int>(i), static_cast<int>(turn.results.size()));
      turn.results.push_back(back.gradient(position(i)));
    }
  for (std::size_t i = n + scanned; i < forward.arguments.size(); ++i) {
    turn.arguments.push_back(forward.arguments[i]);
    invariants.push_back(g.input(static_cast<int>(i)));
  }
  std::vector<output> from = variables;
  from.insert(from.end(), slices.begin(), slices.end());
  from.insert(from.end(), invariants.begin(), invariants.end());
  if (of_input.empty()) return;
  const node_id made = make_loop(g.owner(),
                                 {.base_name = detail::gradient_name(g, name),
                                  .inputs = std::move(from),
                                  .attrs = {{"variables", static_cast<std::int64_t>(count)},
                                            {"scanned", static_cast<std::int64_t>(slices.size())},
                                            {"reverse", !g.attrs().get_or("reverse", false)}},
                                  .where = g.node().where},
                                 nullptr, back.made);
  for (const auto& [input, result] : of_input) g.set(input, {made, result});
}

PINION_DECL node_id make_conditional(graph& g, node_request request, std::shared_ptr<body> then,
                                     std::shared_ptr<body> otherwise) {
  request.op = conditional::name;
  request.attrs.set("results", static_cast<std::int64_t>(then->results.size()));
  for (const auto& branch : {then, otherwise})
    for (const output& o : unrepeatable_outputs(*branch)) branch->results.push_back(o);
  request.attrs.set("then", shared_body(std::move(then)));
  request.attrs.set("else", shared_body(std::move(otherwise)));
  return build(g, std::move(request));
}

PINION_DECL node_id make_loop(graph& g, node_request request, shared_body cond, std::shared_ptr<body> turn) {
  request.op = loop::name;
  const auto n = static_cast<std::ptrdiff_t>(request.attrs.get<std::int64_t>("variables"));
  request.attrs.set("collected", static_cast<std::int64_t>(turn->results.size()) - n);
  std::vector<output> kept(turn->arguments.begin(), turn->arguments.begin() + n);
  const auto more = unrepeatable_outputs(*turn);
  kept.insert(kept.end(), more.begin(), more.end());
  turn->results.insert(turn->results.end(), kept.begin(), kept.end());
  if (cond) request.attrs.set("cond", std::move(cond));
  request.attrs.set("body", shared_body(std::move(turn)));
  return build(g, std::move(request));
}

}}}  // namespace pinion::v0::op

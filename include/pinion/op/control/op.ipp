// Bodies of <pinion/op/control/op.hpp>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/graph/op_names.hpp>
#include <pinion/graph/scope_state.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/op/elementwise/op.hpp>
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

namespace detail {

// Checks that a loop has one end: a condition, which yields one bool, or tensors to scan.
inline void expect_end(const shape_context& c, std::int64_t scanned) {
  if (!c.attrs().has("cond")) {
    if (scanned == 0) c.fail("While without a condition needs something to scan");
    return;
  }
  const body& cond = *c.attrs().get<shared_body>("cond");
  if (scanned > 0) c.fail("While with a condition scans nothing");
  expect_arguments(c, cond, 0, "the condition");
  if (cond.results.size() != 1 || result_type(cond, 0).dtype != dtype::boolean ||
      !fits(result_type(cond, 0).shape, shape{}))
    c.fail("the condition of While yields one bool");
}

// Checks that a variable's type agrees at the start of the loop, in the body, and after an iteration.
inline void expect_variable(const shape_context& c, const body& loop_body, std::size_t i) {
  const output_type &said = argument_type(loop_body, i), &next = result_type(loop_body, i);
  const shape& first = c.shape(static_cast<int>(i));
  const std::string which = "loop variable " + std::to_string(i);
  if (next.dtype != said.dtype)
    c.fail(which + " is " + std::string(to_string(said.dtype)) + ", but the body yields " +
           std::string(to_string(next.dtype)));
  if (!fits(first, said.shape))
    c.fail(which + " begins with shape " + to_string(first) + ", which its invariant " + to_string(said.shape) +
           " does not admit");
  if (!fits(next.shape, said.shape))
    c.fail(which + " has shape " + to_string(said.shape) + ", but the body yields " + to_string(next.shape) +
           "; give it a shape invariant that admits both");
}

// The number of slices of the scanned inputs; unknown where no input has a known one.
inline std::int64_t iterations_of(const shape_context& c, std::int64_t first, std::int64_t scanned) {
  std::int64_t iterations = unknown;
  for (std::int64_t i = first; i < first + scanned; ++i) {
    const shape& slices = c.shape(static_cast<int>(i));
    if (slices.has_rank() && slices.rank() == 0) c.fail("While scans a scalar, which has no slices");
    if (slices.has_rank() && iterations < 0) iterations = slices[0];
  }
  return iterations;
}

// The shape of a result of every iteration, collected along a new first axis.
inline shape collected(const shape& each, std::int64_t iterations) {
  shape all = each.has_rank() && each.rank() < shape::max_rank ? shape{iterations} : shape::any();
  for (int k = 0; all.has_rank() && k < each.rank(); ++k) all.push_back(each[k]);
  return all;
}

}  // namespace detail

PINION_DECL void loop::infer(shape_context& c) {
  const body& loop_body = *c.attrs().get<shared_body>("body");
  const auto variables = c.attrs().get<std::int64_t>("variables"), scanned = c.attrs().get<std::int64_t>("scanned");
  detail::expect_arguments(c, loop_body, 0, "the body");
  const auto n = static_cast<std::size_t>(variables);
  if (variables < 0 || scanned < 0 || variables > c.inputs() || scanned > c.inputs() - variables ||
      loop_body.results.size() < n)
    c.fail("While has fewer inputs or results than variables");
  detail::expect_end(c, scanned);
  for (std::size_t i = 0; i < n; ++i) {
    detail::expect_variable(c, loop_body, i);
    c.output(argument_type(loop_body, i).dtype, argument_type(loop_body, i).shape);
  }
  const std::int64_t iterations = detail::iterations_of(c, variables, scanned);
  for (std::size_t i = n; i < loop_body.results.size(); ++i)
    c.output(result_type(loop_body, i).dtype, detail::collected(result_type(loop_body, i).shape, iterations));
}

// ---- gradients

namespace detail {

// The dense gradient of a value in a body; where there is none, zeros of the value's shape.
inline output dense_or_zeros(graph& g, const std::optional<gradient_value>& found, output of) {
  if (!found) return {build(g, {.op = op_names::zeros_like, .base_name = "zeros", .inputs = {of}}), 0};
  if (!found->is_sparse()) return found->dense;
  return {build(g, {.op = op_names::scatter_dense,
                    .base_name = std::string(op_names::scatter_dense),
                    .inputs = {found->indices, found->rows, of}}),
          0};
}

inline output sum_of(graph& g, output a, output b) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = g.type_of(a).dtype;
  const auto x = p->emit_input(false), y = p->emit_input(false);
  p->results.push_back({p->emit(scalar::opcode::add, x, y), p->arithmetic});
  return {build(g, {.op = add::name,
                    .base_name = "add",
                    .inputs = {a, b},
                    .attrs = {{"program", std::shared_ptr<const scalar::program>(p)}}}),
          0};
}

inline std::string gradient_name(const gradient_context& g, std::string_view op) {
  return g.base_name() + "_grad/" + std::string(op);
}

// A forward body turned into one that computes its gradients: the arguments that were added, and those by which it is
// differentiated.
struct backward_body {
  std::shared_ptr<body> made;
  std::vector<output> weights;                       // the added arguments, one for each of `ys`
  std::vector<output> wanted;                        // the old arguments of floating point
  std::vector<std::optional<gradient_value>> found;  // the gradient by each of them

  // `ys` are results of the forward body.
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

// The indices of the results with a gradient, among the first `count` of a node.
inline std::vector<std::size_t> differentiable(const gradient_context& g, std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i)
    if (g.has_output_gradient(static_cast<int>(i)) && is_floating(g.type_of(g.output(static_cast<int>(i))).dtype))
      all.push_back(i);
  return all;
}

// Replaces both branches by their gradients. A value that a branch kept is an argument of both gradients, but only that
// of its own branch uses it.
class conditional_gradient {
 public:
  explicit conditional_gradient(gradient_context& g)
      : g_(g),
        results_(static_cast<std::size_t>(g.attrs().get<std::int64_t>("results"))),
        common_(differentiable(g, results_)),
        from_(g.node().inputs),
        sides_{side(*this, "then", results_), side(*this, "else", results_ + kept("then"))} {}

  void run() {
    for (const std::size_t y : common_) from_.push_back(g_.output_gradient(static_cast<int>(y)));
    for (side& one : sides_) give_own_arguments(one);
    for (side& one : sides_)
      for (const side& of : sides_) take_arguments(one, of);
    yield_gradients();
    if (!of_input_.empty()) make();
  }

 private:
  // One of the two branches.
  struct side {
    side(conditional_gradient& all, std::string_view branch, std::size_t kept_from)
        : forward(*all.g_.attrs().get<shared_body>(branch)), first_kept(kept_from), ys(all.common_) {
      // Kept values have gradients too, where a gradient of this node is differentiated again.
      for (std::size_t i = all.results_; i < forward.results.size(); ++i) {
        const int at = static_cast<int>(first_kept + i - all.results_);
        if (!all.g_.has_output_gradient(at) || !is_floating(result_type(forward, i).dtype)) continue;
        ys.push_back(i);
        gradients_of_kept.push_back(at);
      }
      back.emplace(all.g_, forward, ys);
    }

    const body& forward;
    const std::size_t first_kept;  // index among the node's outputs
    std::vector<std::size_t> ys;   // the results that have a gradient
    std::vector<int> gradients_of_kept;
    std::optional<backward_body> back;
    std::vector<output> own;  // arguments that only its own gradient uses
  };

  std::size_t kept(std::string_view branch) const {
    return g_.attrs().get<shared_body>(branch)->results.size() - results_;
  }

  // Adds the last arguments. Those so far are the branch's own and its weights; the weights of one branch only and the
  // kept values come after them, those of the first branch before those of the second.
  void give_own_arguments(side& one) {
    auto& arguments = one.back->made->arguments;
    one.own.assign(arguments.end() - static_cast<std::ptrdiff_t>(one.ys.size() - common_.size()), arguments.end());
    arguments.resize(arguments.size() - one.own.size());
    for (const int at : one.gradients_of_kept) from_.push_back(g_.output_gradient(at));
    for (std::size_t i = results_; i < one.forward.results.size(); ++i) {
      one.own.push_back(one.forward.results[i]);
      from_.push_back(g_.output(static_cast<int>(one.first_kept + i - results_)));
    }
  }

  void take_arguments(side& one, const side& of) const {
    body& made = *one.back->made;
    for (const output& o : of.own) {
      if (&of == &one)
        made.arguments.push_back(o);
      else
        add_argument(made, of.back->made->graph.type_of(o), "unused", g_.node().where);
    }
  }

  void yield_gradients() {
    const body& first = sides_[0].forward;
    std::size_t k = 0;  // index among the arguments of floating point
    for (std::size_t i = 0; i < first.arguments.size(); ++i) {
      if (!is_floating(argument_type(first, i).dtype)) continue;
      if (sides_[0].back->any(k) || sides_[1].back->any(k)) {
        of_input_.push_back(static_cast<int>(i) + 1);
        for (side& one : sides_) one.back->made->results.push_back(one.back->gradient(k));
      }
      ++k;
    }
  }

  void make() {
    const node_id made = make_conditional(
        g_.owner(),
        {.base_name = gradient_name(g_, conditional::name), .inputs = std::move(from_), .where = g_.node().where},
        sides_[0].back->made, sides_[1].back->made);
    for (std::size_t i = 0; i < of_input_.size(); ++i) g_.set(of_input_[i], {made, static_cast<int>(i)});
  }

  gradient_context& g_;
  const std::size_t results_;
  const std::vector<std::size_t> common_;  // results of the node with a gradient
  std::vector<output> from_;               // inputs of the new node
  side sides_[2];
  std::vector<int> of_input_;  // input, by output of the new node
};

// A loop that runs backwards over the values kept of each iteration. Its variables are the gradients of this loop's
// variables, and the sums of the gradients of its invariants; it collects the gradients of the scanned tensors.
class loop_gradient {
 public:
  explicit loop_gradient(gradient_context& g)
      : g_(g),
        forward_(*g.attrs().get<shared_body>("body")),
        variables_(count("variables")),
        scanned_(count("scanned")),
        collected_(count("collected")),
        ys_(results_with_gradients()),
        back_(g, forward_, ys_),
        body_(*back_.made) {
    body_.arguments.clear();
  }

  void run() {
    carry_gradients_of_variables();
    sum_gradients_of_invariants();
    scan_what_was_kept();
    collect_gradients_of_slices();
    pass_invariants();
    if (!of_input_.empty()) make();
  }

 private:
  std::size_t count(std::string_view attribute) const {
    return static_cast<std::size_t>(g_.attrs().get<std::int64_t>(attribute));
  }
  bool is_real(std::size_t argument) const { return is_floating(argument_type(forward_, argument).dtype); }
  std::size_t first_invariant() const { return variables_ + scanned_; }

  // Every variable counts as one with a gradient: if an iteration gives it none, an iteration before may.
  std::vector<std::size_t> results_with_gradients() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < forward_.results.size(); ++i)
      if (is_floating(result_type(forward_, i).dtype) &&
          (i < variables_ || g_.has_output_gradient(static_cast<int>(i))))
        all.push_back(i);
    return all;
  }
  // The index of an argument among those of floating point, by which the body was differentiated.
  std::size_t place_of(std::size_t argument) const {
    std::size_t k = 0;
    for (std::size_t i = 0; i < argument; ++i) k += is_real(i);
    return k;
  }
  bool has_gradient(std::size_t argument) const { return is_real(argument) && back_.any(place_of(argument)); }
  output gradient_of(std::size_t argument) { return back_.gradient(place_of(argument)); }

  // Makes a result of the iteration the gradient of an input of the node.
  void yield(std::size_t input, output gradient) {
    of_input_.emplace_back(static_cast<int>(input), static_cast<int>(body_.results.size()));
    body_.results.push_back(gradient);
  }
  void scan(output argument, output stack) {
    body_.arguments.push_back(argument);
    slices_.push_back(stack);
  }

  void carry_gradients_of_variables() {
    for (std::size_t y = 0; y < ys_.size() && ys_[y] < variables_; ++y) {
      body_.arguments.push_back(back_.weights[y]);
      carried_.push_back(g_.output_gradient(static_cast<int>(ys_[y])));
    }
    for (std::size_t i = 0; i < variables_; ++i)
      if (is_real(i)) yield(i, gradient_of(i));
  }

  void sum_gradients_of_invariants() {
    for (std::size_t i = first_invariant(); i < forward_.arguments.size(); ++i) {
      if (!has_gradient(i)) continue;
      const output sum = add_argument(body_, argument_type(forward_, i), "sum", g_.node().where);
      const output more = gradient_of(i);
      carried_.push_back(g_.make(op_names::zeros_like, {g_.input(static_cast<int>(i))}));
      const auto use = body_.graph.as_default();
      yield(i, sum_of(body_.graph, sum, more));
    }
  }

  // Scans the values that each iteration was given and kept, and the gradients of those it collected.
  void scan_what_was_kept() {
    const std::size_t kept = variables_ + collected_;  // index of the variables kept before each iteration
    for (std::size_t i = 0; i < variables_; ++i) scan(forward_.arguments[i], g_.output(static_cast<int>(kept + i)));
    for (std::size_t i = variables_; i < first_invariant(); ++i)
      scan(forward_.arguments[i], g_.input(static_cast<int>(i)));
    for (std::size_t i = kept + variables_; i < forward_.results.size(); ++i)
      scan(forward_.results[i], g_.output(static_cast<int>(i)));
    for (std::size_t y = 0; y < ys_.size(); ++y)
      if (ys_[y] >= variables_) scan(back_.weights[y], g_.output_gradient(static_cast<int>(ys_[y])));
  }

  void collect_gradients_of_slices() {
    for (std::size_t i = variables_; i < first_invariant(); ++i)
      if (has_gradient(i)) yield(i, gradient_of(i));
  }

  void pass_invariants() {
    for (std::size_t i = first_invariant(); i < forward_.arguments.size(); ++i) {
      body_.arguments.push_back(forward_.arguments[i]);
      invariants_.push_back(g_.input(static_cast<int>(i)));
    }
  }

  void make() {
    std::vector<output> from = carried_;
    from.insert(from.end(), slices_.begin(), slices_.end());
    from.insert(from.end(), invariants_.begin(), invariants_.end());
    const node_id made = make_loop(g_.owner(),
                                   {.base_name = gradient_name(g_, loop::name),
                                    .inputs = std::move(from),
                                    .attrs = {{"variables", static_cast<std::int64_t>(carried_.size())},
                                              {"scanned", static_cast<std::int64_t>(slices_.size())},
                                              {"reverse", !g_.attrs().get_or("reverse", false)}},
                                    .where = g_.node().where},
                                   nullptr, back_.made);
    for (const auto& [input, result] : of_input_) g_.set(input, {made, result});
  }

  gradient_context& g_;
  const body& forward_;
  const std::size_t variables_, scanned_, collected_;
  const std::vector<std::size_t> ys_;  // the results that have a gradient
  backward_body back_;
  body& body_;
  std::vector<output> carried_, slices_, invariants_;  // inputs of the new node
  std::vector<std::pair<int, int>> of_input_;          // input of this node, output of the new one
};

}  // namespace detail

inline void conditional::gradient(gradient_context& g) {
  detail::conditional_gradient(g).run();
}

inline void loop::gradient(gradient_context& g) {
  detail::loop_gradient(g).run();
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

PINION_DECL node_id make_loop(graph& g, node_request request, shared_body cond, std::shared_ptr<body> loop_body) {
  request.op = loop::name;
  const auto n = static_cast<std::ptrdiff_t>(request.attrs.get<std::int64_t>("variables"));
  request.attrs.set("collected", static_cast<std::int64_t>(loop_body->results.size()) - n);
  std::vector<output> kept(loop_body->arguments.begin(), loop_body->arguments.begin() + n);
  const auto more = unrepeatable_outputs(*loop_body);
  kept.insert(kept.end(), more.begin(), more.end());
  loop_body->results.insert(loop_body->results.end(), kept.begin(), kept.end());
  if (cond) request.attrs.set("cond", std::move(cond));
  request.attrs.set("body", shared_body(std::move(loop_body)));
  return build(g, std::move(request));
}

}}}  // namespace pinion::v0::op

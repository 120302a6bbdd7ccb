// Control flow in a graph: cond chooses one of two bodies, while_loop repeats one. A body is a graph of its own, built
// once, when cond or while_loop calls the function given. Device guards inside a body may choose among the devices of
// one task.
//
//   x, w ──> If ──> y               its inputs are the predicate and the values that its bodies use
//            ├── then: [x, w]       each body is a graph whose arguments stand for these values
//            └── else: [x]
//
// A value from around a body is used like any other, and becomes an argument of the body on its first use. A variable
// is read there, whichever task holds it; one that a body assigns, and a queue that it uses, is held by the task on
// which the node runs, and run() refuses it otherwise. Expressions that a body makes are seen by that body only. Bodies
// nest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

// The permitted results of a body's function: an expression, a variable, a scalar, a tuple of these, or an operation,
// which is run and yields no value. `types` lists the element types of the results. A body's function may return a
// bool, number or text of C++ as well, which becomes a constant of the body.
template <class R>
struct body_result {
  static_assert(std::is_void_v<R>, "the function of a body returns an expression, a tuple of them, or an operation");
  static_assert(!std::is_void_v<R>,
                "the function of a body returns nothing: return what it computes, or its operation");
};
template <graph_operand R>
struct body_result<R> {
  using types = std::tuple<value_of<R>>;
  static void put(body& b, const R& r) {
    b.results.push_back(endpoint_of(r).endpoint(b.graph, "the body that yields it"));
  }
};
template <element R>
struct body_result<R> {
  using types = std::tuple<R>;
  static void put(body& b, const R& r) { b.results.push_back(constant(r).endpoint(b.graph)); }
};
template <>
struct body_result<operation> {
  using types = std::tuple<>;
  static void put(body& b, const operation& r) {
    if (r.empty() || &r.owner() != &b.graph)
      throw error(errc::invalid_argument, r.empty() ? "a body returns an operation that was never assigned"
                                                    : "a body returns operation '" + r.name() +
                                                          "', which was made outside; it can run after it");
    b.targets.push_back(r.id(b.graph));
  }
};
template <class... R>
struct body_result<std::tuple<R...>> {
  using types = decltype(std::tuple_cat(std::declval<typename body_result<R>::types>()...));
  static void put(body& b, const std::tuple<R...>& all) {
    std::apply([&](const auto&... r) { (body_result<std::remove_cvref_t<decltype(r)>>::put(b, r), ...); }, all);
  }
};
template <class F, class... A>
using result_of_body = body_result<std::remove_cvref_t<std::invoke_result_t<F&, A...>>>;

// The outputs of a node as expressions: one output is an expr, several are a tuple of expr, none is the operation.
// Requires: the node has as many outputs of these dtypes.
template <class Types>
struct outputs_as;
template <class... T>
struct outputs_as<std::tuple<T...>> {
  static auto of(graph& g, node_id id) {
    if constexpr (sizeof...(T) == 0) {
      return operation(g, id);
    } else if constexpr (sizeof...(T) == 1) {
      return expr<T...>(g, {id, 0});
    } else {
      int i = 0;
      return std::tuple<expr<T>...>{expr<T>(g, {id, i++})...};
    }
  }
};

// A finished body, and the values that it uses from the graphs around it.
struct traced_body {
  std::shared_ptr<body> made;
  std::vector<body_trace::capture> captures;
};

// The two steps around the building of a body: add_arguments gives it its arguments, finished takes it when all its
// nodes are there. The arguments are placeholders of the body, in the order of the types.
void add_arguments(body_trace& t, const std::vector<output_type>& types, source_location where);
traced_body finished(body_trace& t);

// Builds a body of a node in the graph `around`, by calling `f` with arguments of the given types, and records the
// results that `f` returns. An exception of `f` ends the body and is passed on; nothing is added to the graph around
// it.
template <class... T, class F>
traced_body trace(graph& around, const std::string& prefix, const std::vector<output_type>& arguments,
                  source_location where, F& f) {
  body_trace t(around, prefix);
  add_arguments(t, arguments, where);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    graph& g = t.made().graph;
    (void)g;
    const auto result = f(expr<T>(g, t.made().arguments[I])...);
    const called_from line(where);
    result_of_body<F, expr<T>...>::put(t.made(), result);
  }
  (std::index_sequence_for<T...>{});
  return finished(t);
}

// A node of control flow while its bodies are being built. They are named after it, so its name is chosen first. One
// call of cond or while_loop uses it.
struct control_site {
  graph& g;
  std::vector<output> inputs;
  std::vector<output_type> variables;  // the loop's own; empty for a conditional
  std::string name;
};
// begin_conditional chooses the name. end_conditional makes the node, which comes last because the values that the
// bodies use from outside are its inputs. The name gets a number where it is taken. `variables` is empty.
control_site begin_conditional(const any_expr& predicate, std::string_view name);
// Both bodies get the same arguments, those that either of them uses.
node_id end_conditional(control_site site, traced_body then, traced_body otherwise, source_location where);

}  // namespace dsl

// Runs one of two bodies: the first where the predicate (bool, a scalar) holds, the second otherwise.
//
//   auto y = cond(x > 0, [&] { return a; }, [&] { return b; });
//
// Only the chosen body runs, and of it what the fetched results need. Both functions return values of the same number
// and dtypes: an expression, a tuple of them, or an operation. Values that they use from outside are computed before
// the choice. Differentiable. The functions are called once each, here, and not in a step. The nodes that they make
// belong to the branch, and using one of them outside it throws invalid_argument; return the value instead. A branch
// that computes nothing new still returns an expression: [&] { return x; } or [] { return 0.f; }. The predicate is a
// scalar: a shape known to be another one throws invalid_argument, and the step fails otherwise. The shapes of both
// results need not agree; the result's shape is the part that does.
//
// The gradient is a cond by the same predicate, so only what the chosen branch used gets a gradient other than 0.
// TensorFlow: tf.cond; to choose element by element, see select.
//
//   auto step = pn::cond(is_chief, [&] { return pn::assign_add(n, 1); }, [&] { return n.read(); });
//
// Compilers refuse branches that differ: "the branches of cond yield values of different number or dtypes".
template <dsl::graph_operand P, class F, class G>
auto cond(P&& predicate, F then, G otherwise, std::string_view name = {},
          source_location where = source_location::current()) {
  static_assert(std::is_same_v<dsl::value_of<P>, bool>, "the predicate of cond is a bool expression");
  using types = typename dsl::result_of_body<F>::types;
  static_assert(std::is_same_v<types, typename dsl::result_of_body<G>::types>,
                "the branches of cond yield values of different number or dtypes; pn::cast<T>(x) converts");
  auto site = dsl::begin_conditional(dsl::endpoint_of(predicate, where), name);
  graph& g = site.g;
  auto a = dsl::trace<>(g, site.name + "/then", {}, where, then);
  auto b = dsl::trace<>(g, site.name + "/else", {}, where, otherwise);
  return dsl::outputs_as<types>::of(g, dsl::end_conditional(std::move(site), std::move(a), std::move(b), where));
}

// Options of while_loop. A shape invariant is the shape that a variable has in every iteration, with pn::unknown for
// the extents that change:
//
//   pn::while_options grows{.shape_invariants = {{}, {pn::unknown, 3}}};   // a counter, and rows that are appended
//
// `maximum_iterations` bounds a loop whose condition may never fail; it then ends without an error, with the values of
// its last iteration.
struct while_options {
  std::int64_t maximum_iterations = -1;      // the loop stops after so many iterations; -1: no limit
  std::vector<shape> shape_invariants = {};  // one for each variable; empty: their first shapes
  std::string_view name = {};
};

namespace dsl {
// Throws invalid_argument where the number of shape invariants is not that of the variables, and where the variables
// belong to several graphs.
control_site begin_loop(const while_options& o, const std::vector<any_expr>& starts);
node_id end_loop(control_site site, const while_options& o, traced_body condition, traced_body loop_body,
                 source_location where);
template <class C, class B, class... I>
auto make_while(const while_options& o, source_location where, C& condition, B& body, const I&... init);
}  // namespace dsl

// Repeats a body while a condition holds. Both are functions of the loop variables; the body returns their next values.
// The result is their values after the last iteration:
//
//   auto [n, s] = while_loop([](auto i, auto s) { return i < 10; },
//                            [](auto i, auto s) { return std::tuple{i + 1, s * 2.0f}; }, i0, s0);
//
// Dtypes stay as they are in every iteration, and so do shapes, unless an invariant leaves an extent unknown. Values
// that the functions use from outside, variables included, are computed once, before the loop. To see what the body
// itself writes, read a variable inside control_dependencies of that write. Differentiable where shapes stay; the
// gradient keeps the values of every iteration. The condition is asked before each iteration, so the body may not run
// at all; it returns one bool. Numbers may stand among the initial values: while_loop(c, b, 0, x) begins with a
// constant. The body returns a tuple, or one expression where there is one variable. Iterations run one after the
// other; nodes inside an iteration run as soon as their inputs are there.
//
// A body that yields another shape than the invariant throws invalid_argument where that is known, and fails the step
// otherwise. A loop that never ends is ended by the session's operation_timeout (deadline_exceeded), by cancellation,
// or by close(). The gradient is a loop that runs backwards; its memory grows with the number of iterations. It fails
// with invalid_argument where the shape of a kept value changes from one to the next. TensorFlow: tf.while_loop.
//
//   auto [i, product] = pn::while_loop({.maximum_iterations = 100},                       // x to the power n
//                                      [n](auto i, auto) { return i < n; },
//                                      [x](auto i, auto p) { return std::tuple{i + 1, p * x}; }, 0, 1.f);
template <class C, class B, class... I>
auto while_loop(const while_options& options, C condition, B body, const I&... init) {
  static_assert(sizeof...(I) > 0, "while_loop has no variables");
  return dsl::make_while(options, source_location{}, condition, body, init...);
}
// The loop without options has no limit on its iterations.
template <class C, class B, class... I>
requires(!std::is_convertible_v<C, while_options>) auto while_loop(C condition, B body, const I&... init) {
  return while_loop(while_options{}, std::move(condition), std::move(body), init...);
}
// A default argument cannot follow a parameter pack, so a call with a pack does not know its source line. The usual
// numbers of variables therefore have overloads of their own.
#define PINION_UNWRAP(...) __VA_ARGS__
#define PINION_LOOP(types, parameters, init)                                                               \
  template <class C, class B, PINION_UNWRAP types>                                                         \
  auto while_loop(const while_options& options, C condition, B body, PINION_UNWRAP parameters,             \
                  source_location where = source_location::current()) {                                    \
    return dsl::make_while(options, where, condition, body, PINION_UNWRAP init);                           \
  }                                                                                                        \
  template <class C, class B, PINION_UNWRAP types>                                                         \
  requires(!std::is_convertible_v<C, while_options>) auto while_loop(                                      \
      C condition, B body, PINION_UNWRAP parameters, source_location where = source_location::current()) { \
    return dsl::make_while(while_options{}, where, condition, body, PINION_UNWRAP init);                   \
  }
PINION_LOOP((class I), (const I& i), (i))
PINION_LOOP((class I, class J), (const I& i, const J& j), (i, j))
PINION_LOOP((class I, class J, class K), (const I& i, const J& j, const K& k), (i, j, k))
PINION_LOOP((class I, class J, class K, class L), (const I& i, const J& j, const K& k, const L& l), (i, j, k, l))
#undef PINION_LOOP
#undef PINION_UNWRAP

namespace dsl {

// A number becomes a constant of its C++ type: 0 is int32, 0.f float.
template <class I>
struct loop_variable {
  using type = I;
  static any_expr start(const I& i, source_location where) { return constant(i, {}, where); }
};
template <graph_operand I>
struct loop_variable<I> {
  using type = value_of<I>;
  static any_expr start(const I& i, source_location where) { return endpoint_of(i, where); }
};

// The condition and the body are both called once, with expressions for the loop variables.
template <class C, class B, class... I>
auto make_while(const while_options& o, source_location where, C& condition, B& loop_body, const I&... init) {
  using types = std::tuple<typename loop_variable<I>::type...>;
  static_assert(
      std::is_same_v<typename result_of_body<C, expr<typename loop_variable<I>::type>...>::types, std::tuple<bool>>,
      "the condition of while_loop returns one bool expression");
  static_assert(
      std::is_same_v<typename result_of_body<B, expr<typename loop_variable<I>::type>...>::types, types>,
      "the body of while_loop returns as many values as there are variables, of their dtypes; pn::cast<T>(x) converts");
  auto site = begin_loop(o, {loop_variable<I>::start(init, where)...});
  graph& g = site.g;
  auto goes_on = trace<typename loop_variable<I>::type...>(g, site.name + "/cond", site.variables, where, condition);
  auto body = trace<typename loop_variable<I>::type...>(g, site.name + "/body", site.variables, where, loop_body);
  return outputs_as<types>::of(g, end_loop(std::move(site), o, std::move(goes_on), std::move(body), where));
}

}  // namespace dsl
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/control/functions.ipp>
#endif

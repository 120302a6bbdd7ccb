// Control flow in a graph: a choice of two bodies, and a loop. Bodies are graphs, built once by calling the functions
// given; devices may be overridden inside, among those of one task.
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
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/spelling.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

// What the function of a body may return: an expression, variable or scalar; several as a tuple; or an operation, which
// is run and yields nothing. types: the element types of the results.
template <class R>
struct body_result {
  static_assert(std::is_void_v<R>, "the function of a body returns an expression, a tuple of them, or an operation");
  static_assert(!std::is_void_v<R>,
                "the function of a body returns nothing: return what it computes, or its operation");
};
template <graph_operand R>
struct body_result<R> {
  using types = std::tuple<value_of<R>>;
  static void put(body& b, const R& r) { b.results.push_back(endpoint_of(r).endpoint()); }
};
template <element R>
struct body_result<R> {
  using types = std::tuple<R>;
  static void put(body& b, const R& r) { b.results.push_back(constant(r).endpoint()); }
};
template <>
struct body_result<operation> {
  using types = std::tuple<>;
  static void put(body& b, const operation& r) {
    if (r.empty() || &r.owner() != &b.graph)
      throw error(errc::invalid_argument, r.empty() ? "a body returns an operation that was never assigned"
                                                    : "a body returns operation '" + r.name() +
                                                          "', which was made outside; it can run after it");
    b.targets.push_back(r.id());
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

// The outputs of a node from `first` on as expressions: one comes bare, several as a tuple, none as the operation.
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

// A body, and what it draws in from outside.
struct traced_body {
  std::shared_ptr<body> made;
  std::vector<body_trace::drawn> drawn;
};

// A trace begins with its arguments, is built in, and is taken when all is there.
void add_arguments(body_trace& t, const std::vector<output_type>& types, source_location where);
traced_body finished(body_trace& t);

// Calls the function with arguments of some types, and takes what it returns.
template <class... T, class F>
traced_body trace(const std::string& prefix, const std::vector<output_type>& arguments, source_location where, F& f) {
  body_trace t(prefix);
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

// A node of control flow that is about to be made: its bodies are built under its name.
struct control_site {
  graph& g;
  std::vector<output> inputs;
  std::vector<output_type> variables;  // of a loop
  std::string name;
};
// The node is made once both bodies are, since what they draw in from outside are its inputs.
control_site begin_conditional(const any_expr& predicate, std::string_view name);
node_id end_conditional(control_site site, traced_body then, traced_body otherwise, source_location where);

}  // namespace dsl

// The results of the first function's body where the predicate (bool, a scalar) holds, of the second's otherwise:
//
//   auto y = cond(x > 0, [&] { return a; }, [&] { return b; });
//
// Only that body runs. Both return as many values, of the same dtypes: an expression, a tuple of them, or an operation.
// What they use from outside is computed before the choice. Differentiable.
template <dsl::graph_operand P, class F, class G>
auto cond(P&& predicate, F then, G otherwise, std::string_view name = {},
          source_location where = source_location::current()) {
  static_assert(std::is_same_v<dsl::value_of<P>, bool>, "the predicate of cond is a bool expression");
  using types = typename dsl::result_of_body<F>::types;
  static_assert(std::is_same_v<types, typename dsl::result_of_body<G>::types>,
                "the branches of cond yield values of different number or dtypes; pn::cast<T>(x) converts");
  auto site = dsl::begin_conditional(dsl::endpoint_of(predicate, where), name);
  graph& g = site.g;
  auto a = dsl::trace<>(site.name + "/then", {}, where, then);
  auto b = dsl::trace<>(site.name + "/else", {}, where, otherwise);
  return dsl::outputs_as<types>::of(g, dsl::end_conditional(std::move(site), std::move(a), std::move(b), where));
}

struct while_options {
  std::int64_t maximum_iterations = -1;      // it stops after so many turns; -1: no limit
  std::vector<shape> shape_invariants = {};  // of each variable; empty: the shapes they begin with
  std::string_view name = {};
};

namespace dsl {
// Throws invalid_argument where there are not as many invariants as variables, and for variables of several graphs.
control_site begin_loop(const while_options& o, const std::vector<any_expr>& starts);
node_id end_loop(control_site site, const while_options& o, traced_body condition, traced_body turn,
                 source_location where);
template <class C, class B, class... I>
auto make_while(const while_options& o, source_location where, C& condition, B& turn, const I&... init);
}  // namespace dsl

// Variables that a body computes anew while a condition on them holds; their values after the last turn:
//
//   auto [n, s] = while_loop([](auto i, auto s) { return i < 10; },
//                            [](auto i, auto s) { return std::tuple{i + 1, s * 2.0f}; }, i0, s0);
//
// Dtypes stay as they are, and so do shapes, unless an invariant leaves them open. What the functions use from outside,
// variables too, is computed before the loop; a variable that a body writes is read anew inside control_dependencies of
// that write. Differentiable, where shapes stay: each turn's values are then kept.
template <class C, class B, class... I>
auto while_loop(const while_options& options, C condition, B turn, const I&... init) {
  static_assert(sizeof...(I) > 0, "while_loop has no variables");
  return dsl::make_while(options, source_location{}, condition, turn, init...);
}
template <class C, class B, class... I>
requires(!std::is_convertible_v<C, while_options>) auto while_loop(C condition, B turn, const I&... init) {
  return while_loop(while_options{}, std::move(condition), std::move(turn), init...);
}
// Behind a pack there is no default argument that could say the caller's line; so the usual numbers have overloads.
#define PINION_UNWRAP(...) __VA_ARGS__
#define PINION_LOOP(types, parameters, init)                                                               \
  template <class C, class B, PINION_UNWRAP types>                                                         \
  auto while_loop(const while_options& options, C condition, B turn, PINION_UNWRAP parameters,             \
                  source_location where = source_location::current()) {                                    \
    return dsl::make_while(options, where, condition, turn, PINION_UNWRAP init);                           \
  }                                                                                                        \
  template <class C, class B, PINION_UNWRAP types>                                                         \
  requires(!std::is_convertible_v<C, while_options>) auto while_loop(                                      \
      C condition, B turn, PINION_UNWRAP parameters, source_location where = source_location::current()) { \
    return dsl::make_while(while_options{}, where, condition, turn, PINION_UNWRAP init);                   \
  }
PINION_LOOP((class I), (const I& i), (i))
PINION_LOOP((class I, class J), (const I& i, const J& j), (i, j))
PINION_LOOP((class I, class J, class K), (const I& i, const J& j, const K& k), (i, j, k))
PINION_LOOP((class I, class J, class K, class L), (const I& i, const J& j, const K& k, const L& l), (i, j, k, l))
#undef PINION_LOOP
#undef PINION_UNWRAP

namespace dsl {

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

template <class C, class B, class... I>
auto make_while(const while_options& o, source_location where, C& condition, B& turn, const I&... init) {
  using types = std::tuple<typename loop_variable<I>::type...>;
  static_assert(
      std::is_same_v<typename result_of_body<C, expr<typename loop_variable<I>::type>...>::types, std::tuple<bool>>,
      "the condition of while_loop returns one bool expression");
  static_assert(
      std::is_same_v<typename result_of_body<B, expr<typename loop_variable<I>::type>...>::types, types>,
      "the body of while_loop returns as many values as there are variables, of their dtypes; pn::cast<T>(x) converts");
  auto site = begin_loop(o, {loop_variable<I>::start(init, where)...});
  graph& g = site.g;
  auto goes_on = trace<typename loop_variable<I>::type...>(site.name + "/cond", site.variables, where, condition);
  auto body = trace<typename loop_variable<I>::type...>(site.name + "/body", site.variables, where, turn);
  return outputs_as<types>::of(g, end_loop(std::move(site), o, std::move(goes_on), std::move(body), where));
}

}  // namespace dsl
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/control/spelling.ipp>
#endif

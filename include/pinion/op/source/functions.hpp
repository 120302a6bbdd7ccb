// Expressions without operands: constants, placeholders, ranges. Also identity, shape_of, and operations that group
// others.
//
//   auto x = pn::placeholder<float>({pn::unknown, 784}, "x");   // run() is given its value
//   auto m = pn::constant<float>({{1, 2}, {3, 4}}, "m");        // [2, 2]
//
// The nodes are made in the default graph of the thread. Without a name they are named after their op; a name that is
// taken gets a number: "x_1". Element types are those of PINION_ELEMENT_TYPES, and others do not compile.
//
//   a value known now                        constant, zeros, ones, fill, range
//   a value that changes from run to run     placeholder, fed by session::run
//   a value that the graph changes           variable (op/variable/functions.hpp)
//   a value out of a file or a thread        a queue (op/queue/functions.hpp), or feeds of a dataset (data/)
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
using pinion::is_tensor;

// A type to which only empty braces convert.
struct no_elements {
  no_elements() {}
};
// Braces of any content, which the overload that refuses a wrong element type takes.
struct braced {
  template <class V>
  braced(const V&);
  braced(std::initializer_list<braced>);
};
struct braces {
  braces(std::initializer_list<braced>);
};

// Makes a node of op Op in the default graph. Its one output has element type T.
template <class Op, element T>
expr<T, made_by<Op>> make(node_request request) {
  graph& g = default_graph();
  return {g, {build(g, std::move(request)), 0}};
}

node_request constant_request(any_tensor value, std::string_view name, source_location where);
// A constant of one value for few elements and for texts, and a Fill for more: a graph does not hold them.
inline constexpr std::int64_t most_stored = 1000;
node_request fill_request(const shape& extent, any_tensor value, std::string_view name, source_location where);
// Makes a constant in the default graph. Requires: no node has the name `exact_name` yet.
output make_constant(any_tensor value, const std::string& exact_name, source_location where);
output make_filled(const shape& extent, any_tensor value, const std::string& exact_name, source_location where);
}  // namespace dsl

// A constant scalar: constant(4.0f, "b"). Its dtype is that of the C++ type. A plain number beside an expression needs
// no constant: x * 2.f holds the 2 in its own node. The value is stored in the graph, and so travels with it to every
// task that runs the node. No gradient flows into a constant.
//
//   auto half = pn::constant(.5f);                       // float, []
//   auto text = pn::constant(std::string("hello"));      // std::string; a bare literal is no element type
template <element T>
expr<T, dsl::made_by<op::constant>> constant(T value, std::string_view name = {},
                                             source_location where = source_location::current()) {
  return dsl::make<op::constant, T>(dsl::constant_request(tensor<T>(value).untyped(), name, where));
}
// A constant tensor from nested braces: constant<float>({{1, 2}, {3, 4}}, "m"). Rows of unequal lengths throw
// invalid_argument. T is the dtype of all elements and is given, since braces have none.
//
//   auto m = pn::constant<float>({{1, 2, 3}, {4, 5, 6}}, "m");      // [2, 3]
template <element T>
expr<T, dsl::made_by<op::constant>> constant(const literal<T>& value, std::string_view name = {},
                                             source_location where = source_location::current()) {
  return dsl::make<op::constant, T>(dsl::constant_request(tensor<T>::of(value).untyped(), name, where));
}
// A constant vector from one row of braces. One element is a vector as well: constant<int>({2}) has shape [1]. Each
// element converts to T by C++'s rules: constant<float>({1, 2}) takes ints.
//
//   auto v = pn::constant<std::int64_t>({4, 5, 6});      // [3]
template <element T, class U>
requires element_value<U, T>
auto constant(std::initializer_list<U> row, std::string_view name = {},
              source_location where = source_location::current()) {
  tensor<T> vector(shape{static_cast<std::int64_t>(row.size())});
  std::transform(row.begin(), row.end(), vector.data(), [](const U& x) { return static_cast<T>(x); });
  return dsl::make<op::constant, T>(dsl::constant_request(vector.untyped(), name, where));
}
// A constant without elements, from empty braces: {} has shape [0], {{}, {}} has [2, 0].
template <element T>
auto constant(std::initializer_list<dsl::no_elements> rows, std::string_view name = {},
              source_location where = source_location::current()) {
  const auto n = static_cast<std::int64_t>(rows.size());
  return dsl::make<op::constant, T>(
      dsl::constant_request(tensor<T>(n == 0 ? shape{0} : shape{n, 0}).untyped(), name, where));
}
// A constant that holds a host tensor. Both share memory until the tensor is written to, which then gets memory of its
// own: the constant does not change.
//
//   pn::tensor<float> table{{10, 3}};
//   auto t = pn::constant(table, "table");               // [10, 3]
template <class V>
requires dsl::is_tensor<V>
auto constant(const V& value, std::string_view name = {}, source_location where = source_location::current()) {
  using T = std::remove_cvref_t<decltype(*value.data())>;
  return dsl::make<op::constant, T>(dsl::constant_request(value.untyped(), name, where));
}
// A constant from a vector, span or array, or from these nested. The elements are copied. A std::vector<float> of n
// numbers has shape [n], one of n std::array<float, k> has [n, k]; inner vectors of unequal lengths throw
// invalid_argument.
//
//   const std::vector<std::vector<float>> rows{{1, 2}, {3, 4}};
//   auto t = pn::constant(rows);                         // [2, 2]
template <class R>
requires rows::of<R, typename rows::innermost<R>::type> && element<typename rows::innermost<R>::type>
auto constant(const R& rows, std::string_view name = {}, source_location where = source_location::current()) {
  return constant(tensor<typename rows::innermost<R>::type>::of(rows), name, where);
}
template <class V>
requires(!element<typename rows::innermost<V>::type> && !dsl::is_tensor<V>)
    PINION_REFUSED("a constant is a scalar, nested braces, a pn::tensor, vector or span; " PINION_ELEMENT_TYPES)
constant(const V&, std::string_view = {}) PINION_REFUSAL;
template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
constant(const dsl::braces&, std::string_view = {}) PINION_REFUSAL;

// A tensor of this shape with one value in every element. Throws invalid_argument for a shape that is not known; shapes
// that are values of the run, such as shape_of(x), are for the fill of op/dynamic/functions.hpp. Up to a thousand
// elements are a constant; more of them are made in each run where the node stands (op Fill), so that a graph does not
// hold them. TensorFlow: tf.fill.
//
//   auto sevens = pn::fill<int>({2, 3}, 7);
template <element T>
auto fill(const shape& extent, T value, std::string_view name = {},
          source_location where = source_location::current()) {
  return dsl::make<op::constant, T>(dsl::fill_request(extent, tensor<T>(value).untyped(), name, where));
}
// A tensor of this shape with 0 in every element. A bool is false and a text is "" in it.
template <element T>
auto zeros(const shape& extent, std::string_view name = {}, source_location where = source_location::current()) {
  return fill<T>(extent, T(), name, where);
}
// A tensor of this shape with 1 in every element.
template <element T>
auto ones(const shape& extent, std::string_view name = {}, source_location where = source_location::current()) {
  return fill<T>(extent, T(1), name, where);
}

template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
zeros(const shape&, std::string_view = {}) PINION_REFUSAL;
template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
ones(const shape&, std::string_view = {}) PINION_REFUSAL;
template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
fill(const shape&, const T&, std::string_view = {}) PINION_REFUSAL;

// The vector start, start + delta, ... of the numbers before `limit`. float, double, int, int64. The vector has
// ceil((limit - start) / delta) elements, none where delta leads away from the limit: range(0, 10, 2) is 0, 2, 4, 6, 8,
// and range(3, 0, -1) is 3, 2, 1. Throws invalid_argument for a delta of 0. Its length is known when the graph is
// built. Ends that are expressions are for the range of op/dynamic/functions.hpp. TensorFlow: tf.range.
//
//   auto r = pn::range(0.f, 1.f, .25f);                  // 0, .25, .5, .75
template <element T>
auto range(T start, T limit, T delta = T(1), std::string_view name = {},
           source_location where = source_location::current()) {
  static_assert(op::range::types.has(dtype_of<T>), "a range is of float, double, int or int64");
  using number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  return dsl::make<op::range, T>({.op = op::range::name,
                                  .base_name = std::string(name.empty() ? "range" : name),
                                  .attrs = {{"dtype", dtype_of<T>},
                                            {"start", static_cast<number>(start)},
                                            {"limit", static_cast<number>(limit)},
                                            {"delta", static_cast<number>(delta)}},
                                  .where = where});
}
// The vector 0, 1, ... of the numbers before `limit`.
//
//   auto i = pn::range(5);                               // 0, 1, 2, 3, 4, int32
template <element T>
auto range(T limit, std::string_view name = {}, source_location where = source_location::current()) {
  return range<T>(T(0), limit, T(1), name, where);
}

template <class T>
requires(!element<T> && !dsl::graph_operand<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
range(const T&, ...) PINION_REFUSAL;

template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
placeholder(const shape& = {}, std::string_view = {}) PINION_REFUSAL;

// A value that the caller of run() feeds. Extents that differ from step to step are pn::unknown. A run that needs its
// value and is not fed it fails with invalid_argument, which names the placeholder and its line; so does a run that
// feeds a tensor of another dtype, or one whose shape does not fit `extent`. Without `extent` any shape fits, and ops
// behind it check shapes when they run. A scalar has extent {}.
//
//   auto x = pn::placeholder<float>({pn::unknown, 3}, "x");
//   auto sum = pn::reduce_sum(x, {.axes = {1}});
//   pn::tensor<float> s = sess.run({{x, pn::tensor<float>{{5, 3}}}}, sum);    // [5]
template <element T>
expr<T, dsl::made_by<op::placeholder>> placeholder(const shape& extent = shape::any(), std::string_view name = {},
                                                   source_location where = source_location::current()) {
  return dsl::make<op::placeholder, T>({.op = op::placeholder::name,
                                        .base_name = std::string(name.empty() ? op::placeholder::name : name),
                                        .attrs = {{"dtype", dtype_of<T>}, {"shape", extent}},
                                        .where = where});
}

namespace dsl {

// The output that feeds an input of dtype T: that of an expression or variable, or of a new constant, called `name`,
// that holds a host tensor or a scalar.
template <element T, class V>
output input_of(graph& g, const V& value, const std::string& name, source_location where) {
  if constexpr (graph_operand<V>) {
    static_assert(same_dtype<T, value_of<V>>,
                  "the value has another dtype than what takes it; pn::cast<T>(x) converts");
    return endpoint_of(value, where).endpoint(g, "the node that takes it");
  } else if constexpr (is_tensor<V>) {
    return {build(g, constant_request(value.untyped(), name, where)), 0};
  } else {
    static_assert(std::is_convertible_v<V, T>, "the value does not convert to the dtype of what takes it");
    return {build(g, constant_request(tensor<T>(static_cast<T>(value)).untyped(), name, where)), 0};
  }
}

}  // namespace dsl

// An operation that runs the given operations and yields no value. Throws invalid_argument where they belong to several
// graphs. The operations run in no order among themselves. Where all ask for one device, so does the group. Expressions
// and variables convert to operations; for an expression the node that computes it runs. The overload below takes them
// without braces: group(assign_a, assign_b).
//
//   auto all = pn::group(pn::assign(a, 1.f), pn::assign(b, 2.f));
//   sess.run(all);
operation group(std::initializer_list<operation> ops, std::string_view name = "group_deps",
                source_location where = source_location::current());
namespace dsl {
// An operation with the line of the call that it is an argument of. A default argument cannot follow a parameter pack,
// so the first operand carries the line.
struct operation_here {
  template <class Op>
  requires std::is_convertible_v<const Op&, operation> operation_here(const Op& given,
                                                                      source_location here = source_location::current())
      : what(given), where(here) {}
  operation what;
  source_location where;
};
}  // namespace dsl
template <class... Op>
requires(std::is_convertible_v<const Op&, operation>&&...) operation
    group(const dsl::operation_here& first, const Op&... others) {
  return group({first.what, operation(others)...}, "group_deps", first.where);
}
// An operation that computes nothing, to run after others by control_dependencies. It is group({}): control
// dependencies that are open when it is made are what it waits for.
//
//   const pn::control_dependencies after{first, second};
//   auto done = pn::no_op("done");
inline operation no_op(std::string_view name = op::no_op::name, source_location where = source_location::current()) {
  return group({}, name, where);
}

// A node with the operand's value, under a name and on a device of its own. A stored expression gets a second name by
// it, and a variable is read at that place in the order of control dependencies. The node is not fused into others, so
// its device guard holds for it alone. The gradient passes unchanged.
//
//   const pn::device there{"/gpu:0"};
//   auto copy = pn::identity(x, "copy");                 // x as it is on that device
template <dsl::graph_operand A>
auto identity(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  graph& g = dsl::graph_of(x);
  return expr<dsl::value_of<A>, dsl::made_by<op::identity>>(
      g, dsl::make_node(g, op::identity::name, name, where, {}, {dsl::endpoint_of(x, where).endpoint(g)}));
}

// The operand's value, through which no gradient flows: for gradients and minimize() it is a constant.
//
//   auto target = pn::stop_gradient(reward + next * .99f);          // what a network is compared with, not trained by
template <dsl::graph_operand A>
auto stop_gradient(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::stop_gradient, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
}

// Zeros and ones in the shape and dtype of the operand, as it is in the running step: any number, and bool. No gradient
// flows through them. TensorFlow: tf.zeros_like, tf.ones_like.
template <dsl::graph_operand A>
auto zeros_like(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::zeros_like, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
}
template <dsl::graph_operand A>
auto ones_like(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::ones_like, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
}

// The extents of the operand, int32 [rank]. They are those of the tensor in the running step, so unknown extents have
// numbers here; x.shape() is the part that is known when the graph is built. No gradient flows through it. TensorFlow:
// tf.shape.
//
//   auto rows = pn::gather(pn::shape_of(x), pn::constant(0));      // the number of rows, int32
template <dsl::graph_operand A>
auto shape_of(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::shape_of, std::int32_t>(name, where, {}, std::forward<A>(x));
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/source/functions.ipp>
#endif

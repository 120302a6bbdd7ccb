// Where values come from: constants and placeholders; values passed on, and operations grouped.
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

// Empty braces convert to this, and nothing else does.
struct no_elements {
  no_elements() {}
};
// Braces of whatever.
struct braced {
  template <class V>
  braced(const V&);
  braced(std::initializer_list<braced>);
};
struct braces {
  braces(std::initializer_list<braced>);
};

// One node with one output of element type T.
template <class Op, element T>
expr<T, made_by<Op>> make(node_request request) {
  graph& g = default_graph();
  return {g, {build(g, std::move(request)), 0}};
}

node_request constant_request(any_tensor value, std::string_view name, source_location where);
// In the default graph, under a full name that is known to be unique.
output make_constant(any_tensor value, const std::string& exact_name, source_location where);
}  // namespace dsl

// A scalar: constant(4.0f, "b"). The dtype is that of the C++ type.
template <element T>
expr<T, dsl::made_by<op::constant>> constant(T value, std::string_view name = {},
                                             source_location where = source_location::current()) {
  return dsl::make<op::constant, T>(dsl::constant_request(tensor<T>(value).untyped(), name, where));
}
// Nested braces: constant<float>({{1, 2}, {3, 4}}, "m").
template <element T>
expr<T, dsl::made_by<op::constant>> constant(const literal<T>& value, std::string_view name = {},
                                             source_location where = source_location::current()) {
  return dsl::make<op::constant, T>(dsl::constant_request(tensor<T>::of(value).untyped(), name, where));
}
// One row of braces is a vector, of one element, too: constant<int>({2}) has shape [1], as {2, 3} has [2].
template <element T, class U>
requires std::is_convertible_v<const U&, T>
auto constant(std::initializer_list<U> row, std::string_view name = {},
              source_location where = source_location::current()) {
  tensor<T> vector(shape{static_cast<std::int64_t>(row.size())});
  std::transform(row.begin(), row.end(), vector.data(), [](const U& x) { return static_cast<T>(x); });
  return dsl::make<op::constant, T>(dsl::constant_request(vector.untyped(), name, where));
}
// Empty braces have no elements: {} has shape [0], {{}, {}} [2, 0].
template <element T>
auto constant(std::initializer_list<dsl::no_elements> rows, std::string_view name = {},
              source_location where = source_location::current()) {
  const auto n = static_cast<std::int64_t>(rows.size());
  return dsl::make<op::constant, T>(
      dsl::constant_request(tensor<T>(n == 0 ? shape{0} : shape{n, 0}).untyped(), name, where));
}
// A host tensor.
template <class V>
requires dsl::is_tensor<V>
auto constant(const V& value, std::string_view name = {}, source_location where = source_location::current()) {
  using T = std::remove_cvref_t<decltype(*value.data())>;
  return dsl::make<op::constant, T>(dsl::constant_request(value.untyped(), name, where));
}
// A vector, span or array, or these nested.
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

// The same value everywhere.
template <element T>
auto fill(const shape& extent, T value, std::string_view name = {},
          source_location where = source_location::current()) {
  tensor<T> t(extent);
  for (T& x : t.span()) x = value;
  return constant(t, name, where);
}
template <element T>
auto zeros(const shape& extent, std::string_view name = {}, source_location where = source_location::current()) {
  return fill<T>(extent, T(0), name, where);
}
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

// start, start + delta, ... up to and without limit.
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
// 0, 1, ... up to and without limit.
template <element T>
auto range(T limit, std::string_view name = {}, source_location where = source_location::current()) {
  return range<T>(T(0), limit, T(1), name, where);
}

template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
range(const T&, ...) PINION_REFUSAL;

template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
placeholder(const shape& = {}, std::string_view = {}) PINION_REFUSAL;

// A value that run() is given. Dimensions may be pn::unknown.
template <element T>
expr<T, dsl::made_by<op::placeholder>> placeholder(const shape& extent = shape::any(), std::string_view name = {},
                                                   source_location where = source_location::current()) {
  return dsl::make<op::placeholder, T>({.op = op::placeholder::name,
                                        .base_name = std::string(name.empty() ? "Placeholder" : name),
                                        .attrs = {{"dtype", dtype_of<T>}, {"shape", extent}},
                                        .where = where});
}

namespace dsl {

// What stands at an input of dtype T: an expression or variable, a host tensor, or a scalar that converts; the latter
// two become constants under that name.
template <element T, class V>
output input_of(graph& g, const V& value, const std::string& name, source_location where) {
  if constexpr (graph_operand<V>) {
    static_assert(same_dtype<T, value_of<V>>,
                  "the value has another dtype than what takes it; pn::cast<T>(x) converts");
    return endpoint_of(value, where).endpoint();
  } else if constexpr (is_tensor<V>) {
    return {build(g, constant_request(value.untyped(), name, where)), 0};
  } else {
    static_assert(std::is_convertible_v<V, T>, "the value does not convert to the dtype of what takes it");
    return {build(g, constant_request(tensor<T>(static_cast<T>(value)).untyped(), name, where)), 0};
  }
}

}  // namespace dsl

// One operation that runs others.
operation group(std::initializer_list<operation> ops, std::string_view name = "group_deps",
                source_location where = source_location::current());
namespace dsl {
// An operation, and the line of the call that it is given to: a pack leaves no room for a default argument behind it.
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
inline operation no_op(std::string_view name = "NoOp", source_location where = source_location::current()) {
  return group({}, name, where);
}

// The operand's value under a name and a device of its own.
template <dsl::graph_operand A>
auto identity(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  graph& g = dsl::graph_of(x);
  return expr<dsl::value_of<A>, dsl::made_by<op::identity>>(
      g, dsl::make_node(g, op::identity::name, name, where, {}, {dsl::endpoint_of(x, where).endpoint()}));
}

// The extents of the operand, int32 [rank].
template <dsl::graph_operand A>
auto shape_of(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::shape_of, std::int32_t>(name, where, {}, std::forward<A>(x));
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/source/spelling.ipp>
#endif

// Triangles and bands of matrices, and unit matrices.
//
//   auto lower = pn::tril(x);                             // 0 above the main diagonal
//   auto causal = pn::tril(pn::ones<bool>({n, n}));       // true where j <= i
//
// Matrices are the last two axes of a tensor. Any number, and bool; differentiable in float and double, to any order:
// the gradient is 0 where the result is. Kernels are of CPUs. Every function throws invalid_argument for a tensor of
// fewer than two axes; where the rank is not known before the step, that fails.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/band/op.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

// The elements of x on diagonal k and below, or above: 0 is the main diagonal, one above it counts 1, one below -1. The
// others are 0 or false. NumPy: tril, triu.
//
//   auto below = pn::tril(x, -1);                         // without the main diagonal
template <dsl::graph_operand A>
auto tril(A&& x, std::int64_t k = 0, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::band_part, dsl::value_of<A>>(name, where, {{"highest", k}}, std::forward<A>(x));
}
template <dsl::graph_operand A>
auto triu(A&& x, std::int64_t k = 0, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::band_part, dsl::value_of<A>>(name, where, {{"lowest", k}}, std::forward<A>(x));
}
// The elements of x on the main diagonal, on `lower` diagonals below it, and on `upper` above; a negative number is all
// of them. TensorFlow: tf.linalg.band_part.
template <dsl::graph_operand A>
auto band_part(A&& x, std::int64_t lower, std::int64_t upper, std::string_view name = {},
               source_location where = source_location::current()) {
  attributes attrs;
  if (lower >= 0) attrs.set("lowest", -lower);
  if (upper >= 0) attrs.set("highest", upper);
  return dsl::node_call<op::band_part, dsl::value_of<A>>(name, where, std::move(attrs), std::forward<A>(x));
}

// A matrix of ones on the main diagonal and zeros elsewhere, of `columns` columns, or as many as rows. TensorFlow:
// tf.eye.
//
//   auto i = pn::eye<float>(3);                           // [3, 3]
template <element T>
auto eye(std::int64_t rows, std::int64_t columns = -1, std::string_view name = {},
         source_location where = source_location::current()) {
  return band_part(ones<T>({rows, columns < 0 ? rows : columns}, {}, where), 0, 0, name.empty() ? "eye" : name, where);
}

}}  // namespace pinion::v0

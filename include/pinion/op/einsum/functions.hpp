// Products of matrices, and sums of products that an equation names.
//
//   auto h = pn::matmul(x, w);                               // [m, k] x [k, n] -> [m, n]
//   auto g = pn::matmul(x, dy, {.transpose_a = true});       // [m, k], [m, n] -> [k, n]
//   auto s = pn::einsum("bqhd,bkhd->bhqk", q, k);            // scores of attention, of each batch and head
//
// Operands are float, double, int32 or int64; others throw invalid_argument. Extents may be 0. Sums of integers wrap.
#pragma once

#include <concepts>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/einsum/op.hpp>
#include <pinion/op/matmul/op.hpp>

namespace pinion { inline namespace v0 {

// Options of matmul: the operands of which to transpose the last two axes first. Each matrix is read transposed in
// place; no copy of it is made. A name becomes that of the node, which is named after its op otherwise.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string_view name = {};
};

namespace dsl {
// Makes the node of a product of `a` and `b`.
output make_product(graph& g, output a, output b, const matmul_options& options, source_location where);
}  // namespace dsl

// The product of two matrices, [m, k] x [k, n] -> [m, n], or of the matrices in the last two axes of tensors, whose
// leading axes broadcast: [b, 1, m, k] x [h, k, n] -> [b, h, m, n]. Throws invalid_argument where an operand has rank
// below 2, and where extents do not fit. Differentiable by both operands where they are float or double. An unknown
// extent is compared when the step runs. On a CPU, float is computed by oneDNN and double by a CBLAS where pinion was
// configured with them, so the order of the additions is theirs; a plain loop computes the rest. A vector has no
// product here: pn::expand_dims(v, 1) makes a column [k, 1] of it, and pn::squeeze takes the axis away again.
// TensorFlow: tf.matmul. The node is a MatMul for operands of rank 2, and a BatchMatMulV2 for others and where a rank
// is unknown. A BatchMatMulV2 has kernels on CPUs alone.
//
// The gradients are two products, by a: dy b^T, and by b: a^T dy, with the operands transposed as the options say, and
// summed over the leading axes along which an operand was repeated.
template <dsl::graph_operand A, dsl::graph_operand B>
auto matmul(A&& a, B&& b, const matmul_options& options = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<B>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_stored<A>(), dsl::check_stored<B>();
  graph& g = dsl::graph_of(a, b);
  return expr<T, dsl::made_by<op::matmul>>(
      g, dsl::make_product(g, dsl::endpoint_of(a, where).endpoint(g), dsl::endpoint_of(b, where).endpoint(g), options,
                           where));
}

namespace dsl {

// The text of an equation and the line of the call, since a default argument cannot stand behind the operands.
struct equation_text {
  template <std::convertible_to<std::string_view> S>
  equation_text(const S& equation, source_location line = source_location::current()) : text(equation), where(line) {}
  std::string_view text;
  source_location where;
};

any_expr make_einsum(const equation_text& equation, const std::vector<any_expr>& operands);

}  // namespace dsl

// The sum of products that an equation names, by Einstein's convention: each axis of an operand has a letter; the axes
// of the result are those behind "->", and products are added up over all others. Operands are one or more, of one
// dtype.
//
//   pn::einsum("ij,jk->ik", a, b)            a product of matrices           pn::einsum("ij->ji", a)    transposed
//   pn::einsum("bij,bjk->bik", a, b)         one for each b                  pn::einsum("ii", a)        the trace
//   pn::einsum("i,j->ij", u, v)              all products                    pn::einsum("ii->i", a)     the diagonal
//   pn::einsum("...ij,...jk->...ik", a, b)   leading axes broadcast          pn::einsum("ij->i", a)     sums of rows
//
// Without "->" the result has the letters that stand once, in the order of the alphabet, behind the axes of "...". A
// letter that stands twice in an operand takes its diagonal. Axes of one letter have one extent; those of "..."
// broadcast.
//
// Two operands at a time are contracted, those first whose product is smallest beside them, where extents are known;
// letters that one operand has alone are summed over before. Products of matrices are found in the operands as they lie
// in memory, and copies are made where a library cannot read them so. An equation that permutes the axes of one operand
// makes a Transpose. Throws invalid_argument for text that is no
// equation, and for operands that do not fit it. The gradient of each operand is a sum of the same kind. CPUs only.
// TensorFlow: tf.einsum.
template <dsl::graph_operand A, dsl::graph_operand... B>
auto einsum(const dsl::equation_text& equation, A&& a, B&&... b) {
  using T = dsl::value_of<A>;
  static_assert((dsl::same_dtype<T, dsl::value_of<B>> && ...),
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_stored<A>(), (dsl::check_stored<B>(), ...);
  return dsl::as_typed<expr<T, dsl::made_by<op::einsum>>>(
      dsl::make_einsum(equation, {dsl::endpoint_of(a, equation.where), dsl::endpoint_of(b, equation.where)...}));
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/einsum/functions.ipp>
#endif

// The elementwise programs whose kernels pinion::compiled holds, so that a user's units need not compile them: each op
// alone, and the fusions that models use. The tables of the library and `held_by_library` follow from these lists.
#pragma once

#include <cstdint>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/base/type_list.hpp>
#include <pinion/op/elementwise/program.hpp>
#include <pinion/scalar/functors.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

template <class P>
struct holds {};
// A list of programs, as base classes: a compiler finds one of many bases at once.
template <class... P>
struct program_list : holds<P>... {};

namespace detail {

template <class T, class Unary, class Binary, class Comparisons, class Results>
struct single_ops;
template <class T, class... F, class... G, class... C, class... R>
struct single_ops<T, type_list<F...>, type_list<G...>, type_list<C...>, type_list<R...>> {
  using x = number_argument;
  using n = literal_argument;
  using m = mask_argument;
  template <class A, class B>
  using choice = mapped<scalar::functor::selection, T, T, m, A, B>;
  using type = program_list<mapped<F, T, T, x>..., mapped<G, T, T, x, x>..., mapped<G, T, T, x, n>...,
                            mapped<G, T, T, n, x>..., mapped<C, T, bool, x, x>..., mapped<C, T, bool, x, n>...,
                            mapped<C, T, bool, n, x>..., choice<x, x>, choice<x, n>, choice<n, x>, choice<n, n>,
                            mapped<scalar::functor::identity, T, R, x>..., mapped<scalar::functor::indicator, T, T, m>>;
};

template <class Binary>
struct single_ops_of_masks;
template <class... F>
struct single_ops_of_masks<type_list<F...>> {
  using m = mask_argument;
  using type = program_list<mapped<F, bool, bool, m, m>..., mapped<scalar::functor::logical_not, bool, bool, m>,
                            mapped<scalar::functor::selection_of_masks, bool, bool, m, m, m>,
                            mapped<scalar::functor::same_mask, bool, bool, m>>;
};

template <class T>
constexpr auto list_single_ops() {
  namespace f = scalar::functor;
  using dtypes = type_list<float, double, std::int32_t, std::int64_t, std::uint8_t>;
  if constexpr (std::is_same_v<T, bool>)
    return single_ops_of_masks<f::of_two_masks>{};
  else if constexpr (std::is_floating_point_v<T>)
    return single_ops<T, f::of_real, f::of_two_reals, f::comparing, dtypes>{};
  else
    return single_ops<T, f::of_number, f::of_two_numbers, f::comparing, dtypes>{};
}

// Fusions are written with x for a node's output and n for a number.
template <class T>
struct fusions {
  using x = number_argument;
  using n = literal_argument;
#define PINION_UNARY(name, function) \
  template <class A>                 \
  using name = mapped<scalar::functor::function, T, T, A>;
#define PINION_BINARY(name, function, result) \
  template <class A, class B>                 \
  using name = mapped<scalar::functor::function, T, result, A, B>;
  PINION_UNARY(neg, negate)
  PINION_UNARY(abs, absolute)
  PINION_UNARY(square, squared)
  PINION_UNARY(sqrt, square_root)
  PINION_UNARY(rsqrt, reciprocal_square_root)
  PINION_UNARY(exp, exponential)
  PINION_UNARY(log, logarithm)
  PINION_UNARY(erf, error_function)
  PINION_UNARY(tanh, hyperbolic_tangent)
  PINION_UNARY(sigmoid, sigmoid)
  PINION_UNARY(relu, relu)
  PINION_UNARY(elu, elu)
  PINION_UNARY(softplus, softplus)
  PINION_BINARY(add, add, T)
  PINION_BINARY(sub, subtract, T)
  PINION_BINARY(mul, multiply, T)
  PINION_BINARY(div, divide, T)
  PINION_BINARY(min, minimum, T)
  PINION_BINARY(max, maximum, T)
  PINION_BINARY(lt, less, bool)
  PINION_BINARY(le, less_equal, bool)
  PINION_BINARY(gt, greater, bool)
  PINION_BINARY(ge, greater_equal, bool)
  PINION_BINARY(eq, equal, bool)
  PINION_BINARY(ne, not_equal, bool)
#undef PINION_UNARY
#undef PINION_BINARY
  template <class M, class A, class B>
  using select = mapped<scalar::functor::selection, T, T, M, A, B>;

  using bias = add<x, x>;
  using both_biases = add<add<x, x>, x>;
  using affine = add<mul<x, x>, x>;
  using normal = mul<sub<x, x>, rsqrt<add<x, n>>>;
  using activations_of_bias = program_list<relu<bias>, elu<bias>, tanh<bias>, sigmoid<bias>, softplus<bias>>;
  using type = program_list<
      // activations of a sum
      relu<bias>, elu<bias>, tanh<bias>, sigmoid<bias>, softplus<bias>, relu<add<x, n>>, elu<add<x, n>>,
      tanh<add<x, n>>, sigmoid<add<x, n>>, softplus<add<x, n>>, relu<affine>, elu<affine>, tanh<affine>,
      sigmoid<affine>, softplus<affine>, relu<both_biases>, tanh<both_biases>, sigmoid<both_biases>, max<x, mul<x, n>>,
      max<mul<x, n>, x>, max<mul<n, x>, x>, max<x, mul<n, x>>,
      // residuals
      both_biases, add<x, bias>, add<x, relu<x>>, add<relu<x>, x>, add<x, relu<bias>>, add<relu<bias>, x>,
      // scaled and shifted
      affine, add<x, mul<x, x>>, add<mul<x, n>, n>, add<mul<n, x>, n>, add<n, mul<n, x>>, add<mul<x, n>, x>,
      add<mul<n, x>, x>, add<x, mul<x, n>>, add<x, mul<n, x>>, add<mul<x, n>, mul<x, n>>, add<mul<n, x>, mul<n, x>>,
      add<mul<x, x>, mul<x, x>>, add<bias, n>, add<div<x, x>, x>, add<div<x, n>, n>, sub<x, mul<x, x>>,
      sub<x, mul<x, n>>, sub<x, mul<n, x>>, sub<mul<x, x>, x>, sub<mul<x, n>, n>, sub<mul<n, x>, n>,
      sub<mul<x, x>, mul<x, x>>, sub<sub<x, x>, x>, sub<bias, x>, sub<n, mul<x, x>>, mul<bias, x>, mul<x, bias>,
      mul<bias, n>, mul<n, bias>, mul<sub<x, x>, x>, mul<x, sub<x, x>>, mul<sub<x, x>, n>, mul<n, sub<x, x>>,
      mul<mul<x, x>, x>, mul<mul<x, x>, n>, mul<n, mul<x, x>>, mul<mul<x, n>, x>, mul<mul<n, x>, x>, mul<add<x, n>, x>,
      mul<x, add<x, n>>, mul<add<x, n>, n>, mul<sub<x, n>, x>, mul<x, sub<x, n>>, mul<sub<x, n>, n>, mul<sub<n, x>, x>,
      mul<x, sub<n, x>>, div<sub<x, x>, x>, div<sub<x, x>, n>, div<sub<x, n>, n>, div<bias, n>, div<mul<x, x>, x>,
      div<x, bias>, div<x, add<x, n>>, div<neg<x>, x>,
      // normalisation
      rsqrt<add<x, n>>, sqrt<add<x, n>>, mul<x, rsqrt<add<x, n>>>, normal, mul<normal, x>, add<mul<normal, x>, x>,
      add<mul<sub<x, x>, x>, x>, div<sub<x, x>, sqrt<add<x, n>>>, div<x, sqrt<add<x, n>>>,
      // choices: dropout, clipping, what is left out
      select<ge<x, n>, mul<x, n>, n>, select<ge<x, n>, div<x, n>, n>, select<lt<x, n>, n, mul<x, n>>, mul<div<x, n>, x>,
      min<max<x, n>, n>, max<min<x, n>, n>, select<gt<x, n>, x, n>, select<gt<x, n>, x, mul<x, n>>,
      select<gt<x, x>, x, x>, select<lt<x, x>, x, x>, select<eq<x, n>, n, x>, select<eq<x, n>, n, div<x, x>>,
      select<ne<x, n>, x, n>,
      // gates
      mul<x, sigmoid<x>>, mul<sigmoid<x>, x>, mul<x, tanh<x>>, mul<tanh<x>, x>, mul<sigmoid<x>, tanh<x>>,
      add<mul<x, x>, mul<sub<n, x>, x>>, add<mul<sub<n, x>, x>, mul<x, x>>,
      add<mul<sigmoid<x>, x>, mul<sigmoid<x>, tanh<x>>>, mul<mul<x, n>, add<n, erf<mul<x, n>>>>,
      mul<mul<n, x>, add<n, erf<mul<x, n>>>>,
      // losses
      square<sub<x, x>>, sub<affine, x>, square<sub<affine, x>>, sub<x, affine>, square<sub<x, affine>>, abs<sub<x, x>>,
      mul<square<sub<x, x>>, n>, mul<n, square<sub<x, x>>>, mul<square<x>, n>, mul<n, square<x>>, log<add<x, n>>,
      mul<x, log<x>>, mul<x, log<add<x, n>>>, neg<log<x>>, neg<mul<x, log<x>>>, mul<neg<x>, log<x>>, exp<neg<x>>,
      exp<sub<x, x>>, exp<mul<x, n>>, exp<mul<n, x>>, sub<softplus<x>, mul<x, x>>,
      relu<sub<n, mul<x, sub<mul<x, n>, n>>>>, add<mul<square<x>, n>, mul<sub<x, x>, n>>,
      sub<mul<neg<x>, log<add<x, n>>>, mul<sub<n, x>, log<sub<n, x>>>>>;
};

}  // namespace detail

// The programs of single ops in the arithmetic of T; fusions exist in float and double.
template <class T>
using single_programs = typename decltype(detail::list_single_ops<T>())::type;
template <class T>
using fused_programs = typename detail::fusions<T>::type;

// Those of them that this build of the library holds: PINION_HELD_KERNELS is 2 for all, 1 for single ops, 0 for none.
// The fewer it holds, the faster it is built, and the more a user's units compile of what they use.
template <class T>
using held_singles = std::conditional_t<(PINION_HELD_KERNELS >= 1), single_programs<T>, program_list<>>;
template <class T>
using held_fusions = std::conditional_t<(PINION_HELD_KERNELS >= 2), fused_programs<T>, program_list<>>;

namespace detail {

// Short names for the long lists: a compiler reads all of a name each time a template is asked for by it.
template <class T>
struct library_singles : held_singles<T> {};
template <class T>
struct library_fusions : held_fusions<T> {};

template <class A, class P>
constexpr bool is_held() {
  if constexpr (std::is_base_of_v<holds<P>, library_singles<A>>)
    return true;
  else if constexpr (std::is_floating_point_v<A>)
    return std::is_base_of_v<holds<P>, library_fusions<A>>;
  else
    return false;
}

}  // namespace detail

// Tells whether pinion::compiled holds the kernels of a program. A library compiled without optimization holds none and
// interprets programs; in header-only mode there is none.
template <class P>
inline constexpr bool held_by_library = false;
#if !PINION_HEADER_ONLY
template <class F, element A, element R, class... O>
inline constexpr bool held_by_library<mapped<F, A, R, O...>> = detail::is_held<A, mapped<F, A, R, O...>>();
#endif

}}}  // namespace pinion::v0::dsl

// Making elementwise nodes. A temporary operand is absorbed in the type and in the graph alike.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/program_kernels.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

template <class E>
using program_of = typename expr_facts<std::remove_cvref_t<E>>::program;

// The form of operand A in a program that computes in Arithmetic: absorbed if it is a temporary of a type that joins
// and is small enough, and a leaf otherwise.
template <class A, class Arithmetic, bool Absorbs>
constexpr auto stand() {
  if constexpr (scalar_operand<A>) {
    return literal_argument{};
  } else {
    constexpr bool is_mask = std::is_same_v<value_of<A>, bool>;
    using as_leaf = std::conditional_t<is_mask, mask_argument, number_argument>;
    if constexpr (Absorbs && expression<A> && !std::is_lvalue_reference_v<A>) {
      using P = program_of<A>;
      if constexpr (!joins<P, Arithmetic>)
        return as_leaf{};
      else if constexpr (P::extent.operations < max_operations / 2 && P::extent.leaves <= max_leaves / 2 &&
                         P::extent.instructions < max_instructions / 3)
        return P{};
      else
        return as_leaf{};
    } else {
      return as_leaf{};
    }
  }
}

template <class A, class Arithmetic, bool Absorbs = true>
using stand_t = decltype(stand<A, Arithmetic, Absorbs>());

// The program of a functor over operands. Where the functor is large, the operands' programs are not absorbed.
template <class Functor, class Arithmetic, class Result, class... A>
struct placed_operands {
  static constexpr bool absorbs = mapped<Functor, Arithmetic, Result, stand_t<A, Arithmetic>...>::extent.fits();
  using program = mapped<Functor, Arithmetic, Result, stand_t<A, Arithmetic, absorbs>...>;
};

namespace detail {

// An operand of an elementwise node: a number, or an expression, whose node may be absorbed if its type joins.
struct map_part {
  scalar::operand<scalar::program> as = {scalar::operand<scalar::program>::leaf, {}, nullptr};
  any_expr value = {};
  bool joins = false;
};

template <class Stand, class Arithmetic, class A>
map_part part_of(const A& a, source_location where) {
  using operand = scalar::operand<scalar::program>;
  if constexpr (scalar_operand<A>)
    return {.as = {operand::number_literal, scalar::number(static_cast<Arithmetic>(a)), nullptr}};
  else
    return {.as = {std::is_same_v<value_of<A>, bool> ? operand::leaf_mask : operand::leaf, {}, nullptr},
            .value = endpoint_of(a, where),
            .joins = is_mapped<Stand>};
}

// A request for an elementwise node, as its type describes it.
struct map_request {
  std::string_view op, base_name;
  std::string_view name;  // "" without one
  source_location where;
  const static_program& own;
};
output make_map(graph& g, const map_request& request, std::span<const map_part> operands);

}  // namespace detail

// Refuses elements that are stored, and that no program computes with.
template <class T>
constexpr void check_computes() {
  static_assert(!dtypes::stored.has(dtype_of<T>),
                "elements of this type are stored, and ops do not compute with them; pn::cast<float>(x) makes numbers");
}

// Makes a node of op Op over the operands, computed in Arithmetic, with elements of Result.
template <class Op, element Arithmetic, element Result, operand... A>
auto map_call(std::string_view name, source_location where, A&&... operands) {
  check_computes<Arithmetic>();
  using functor = typename Op::functor;
  using placed = placed_operands<functor, Arithmetic, Result, A...>;
  using P = typename placed::program;
  (check_stored<A>(), ...);
  instantiate_kernels<P>();
  graph& g = graph_of(operands...);
  const std::array<detail::map_part, sizeof...(A)> parts{
      detail::part_of<stand_t<A, Arithmetic, placed::absorbs>, Arithmetic>(operands, where)...};
  return expr<Result, P>(g, detail::make_map(g, {Op::name, Op::base_name, name, where, P::own()}, parts));
}

// The element type on which operands agree; scalars convert to it.
template <class... A>
struct common {
  template <class X>
  static constexpr auto pick() {
    if constexpr (graph_operand<X>)
      return std::type_identity<value_of<X>>{};
    else
      return std::type_identity<void>{};
  }
  template <class First, class... Rest>
  static constexpr auto first() {
    using t = typename decltype(pick<First>())::type;
    if constexpr (!std::is_void_v<t>)
      return std::type_identity<t>{};
    else
      return first<Rest...>();
  }
  using type = typename decltype(first<A...>())::type;
};
template <class... A>
using common_value = typename common<A...>::type;

template <class T, class A>
constexpr void check_operand() {
  if constexpr (graph_operand<A>) {
    static_assert(same_dtype<T, value_of<A>>,
                  "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  } else {
    static_assert(
        std::is_floating_point_v<T> || !std::is_floating_point_v<std::remove_cvref_t<A>>,
        "a fraction beside an integer expression would be cut off; pn::cast<float>(x) converts the expression");
  }
}

// The arithmetic type of a logical op: that of the first operand that can be absorbed, and bool without one.
template <class A>
constexpr auto mask_arithmetic() {
  if constexpr (expression<A> && !std::is_lvalue_reference_v<A>) {
    if constexpr (is_mapped<program_of<A>>)
      return std::type_identity<typename program_of<A>::arithmetic>{};
    else
      return std::type_identity<bool>{};
  } else {
    return std::type_identity<bool>{};
  }
}

// Makes a node of an op that keeps the dtype of its operands.
template <class Op, class... A>
auto map_same(std::string_view name, source_location where, A&&... operands) {
  using T = common_value<A...>;
  (check_operand<T, A>(), ...);
  check_computes<T>();
  static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, std::string>,
                "this op computes numbers; pn::cast<float>(x) makes numbers of bools");
  return map_call<Op, T, T>(name, where, std::forward<A>(operands)...);
}
template <class Op, class A, class... B>
auto map_logic(std::string_view name, source_location where, A&& a, B&&... b) {
  static_assert(same_dtype<value_of<A>, bool> && (same_dtype<value_of<B>, bool> && ...), "&&, || and ! take bools");
  using arithmetic = typename decltype(mask_arithmetic<A>())::type;
  if constexpr (std::is_same_v<arithmetic, std::uint8_t>)
    return map_call<Op, bool, bool>(name, where, std::forward<A>(a), std::forward<B>(b)...);
  else
    return map_call<Op, arithmetic, bool>(name, where, std::forward<A>(a), std::forward<B>(b)...);
}

// Makes a constant of a bool beside a bool expression, since programs have no mask literals.
template <class A>
decltype(auto) as_mask(graph& g, source_location where, A&& a) {
  if constexpr (graph_operand<A>) {
    return std::forward<A>(a);
  } else {
    static_assert(same_dtype<std::remove_cvref_t<A>, bool>, "beside a bool expression stands true or false, no number");
    return expr<bool>(g, {build(g, {.op = op::constant::name,
                                    .base_name = std::string(op::constant::name),
                                    .attrs = {{"value", tensor<bool>(a).untyped()}},
                                    .where = where}),
                          0});
  }
}
template <class Op, class... A>
auto map_masks(std::string_view name, source_location where, A&&... operands) {
  graph& g = graph_of(operands...);
  const auto made_at = [&where](const auto& a) {
    if constexpr (graph_operand<decltype(a)>)
      if (!where.known()) where = a.owner().peek(a.id(a.owner())).where;
  };
  (made_at(operands), ...);  // a constant has no input to take a line from
  return map_logic<Op>(name, where, as_mask(g, where, std::forward<A>(operands))...);
}

// The op on bools that corresponds to a comparison of numbers.
template <class Op>
struct of_masks_of {
  using type = void;
};
template <>
struct of_masks_of<op::equal> {
  using type = op::equal_masks;
};
template <>
struct of_masks_of<op::not_equal> {
  using type = op::not_equal_masks;
};

template <class Op, class... A>
auto map_compare(std::string_view name, source_location where, A&&... operands) {
  using T = common_value<A...>;
  (check_operand<T, A>(), ...);
  check_computes<T>();
  static_assert(!std::is_same_v<T, std::string>, "texts are not compared; a dataset can do that before the graph");
  if constexpr (std::is_same_v<T, bool>) {
    using of_masks = typename of_masks_of<Op>::type;
    static_assert(!std::is_void_v<of_masks>,
                  "no bool is less than another: <, <=, > and >= take numbers, == and != both");
    return map_masks<of_masks>(name, where, std::forward<A>(operands)...);
  } else {
    return map_call<Op, T, bool>(name, where, std::forward<A>(operands)...);
  }
}

}}}  // namespace pinion::v0::dsl

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/map.ipp>
#endif

// The second-order gradients whose kernels pinion::compiled holds: those of single ops, and of activations of a sum.
#pragma once

#include <array>
#include <cstdint>

#include <pinion/op/elementwise/held_programs.hpp>
#include <pinion/op/elementwise/program.hpp>
#include <pinion/op/elementwise/program_size.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// The backward program of P with its stated derivatives, as nodes have it.
template <class P>
inline constexpr static_gradient recorded_gradient =
    scalar::derive_for_node(scalar::convert_program<static_gradient>(P::recorded));

// The backward program of the backward program of P, for adjoints of some of its results: result r if bit r of `Given`
// is set. op::detail::differentiate_again makes nodes of it.
template <class P, std::uint32_t Given>
struct second_gradient_of {
  using arithmetic = typename P::arithmetic;
  template <std::size_t>
  using result = arithmetic;
  static constexpr static_gradient executable = scalar::executable(scalar::derive(recorded_gradient<P>, Given));
};

// The activations of a sum, which are differentiated twice where a loss has the gradient of a network by its input.
template <class T>
using twice_differentiated = typename detail::fusions<T>::activations_of_bias;

namespace detail {

// Tells whether a backward program of P is there, and short enough to be differentiated as a whole.
template <class P>
constexpr bool is_differentiated_again() {
  if constexpr (has_gradient_kernel<P>())
    return recorded_gradient<P>.code.size() <= op::detail::most_differentiated_again;
  else
    return false;
}

// Calls f.template operator()<Q>() for the second-order gradients of P: one for each choice of the results that are not
// always 0.
template <class P, class F, std::uint32_t Given = 1>
constexpr void for_each_second_gradient(F&& f) {
  if constexpr (is_differentiated_again<P>()) {
    constexpr const auto& p = recorded_gradient<P>;
    constexpr auto is_given_zero = [](std::uint32_t given) {
      for (std::size_t r = 0; r < p.results.size(); ++r) {
        const auto in = p.code[p.results[r].value];
        if ((given >> r & 1) != 0 && in.op == scalar::opcode::constant && p.constants[in.a].real == 0) return true;
      }
      return false;
    };
    if constexpr (!is_given_zero(Given)) f.template operator()<second_gradient_of<P, Given>>();
    if constexpr (Given + 1 < std::uint32_t{1} << p.results.size()) for_each_second_gradient<P, F, Given + 1>(f);
  }
}
template <class F, class... P>
constexpr void for_each_second_gradient_of(program_list<P...>, F&& f) {
  (for_each_second_gradient<P>(f), ...);
}

}  // namespace detail

// The table of the kernels of second-order gradients in the arithmetic of T, for a unit of pinion::compiled.
template <class T>
struct second_gradient_table {
  template <class F>
  static constexpr void for_each(F&& f) {
    if constexpr (scalar::compiles_kernels && PINION_HELD_KERNELS >= 2) {
      detail::for_each_second_gradient_of(single_programs<T>{}, f);
      detail::for_each_second_gradient_of(twice_differentiated<T>{}, f);
    }
  }
  static constexpr std::size_t count = [] {
    std::size_t programs = 0;
    for_each([&]<class P>() { ++programs; });
    return programs;
  }();
  static constexpr std::array<scalar::compiled_kernel, count> kernels = [] {
    std::array<scalar::compiled_kernel, count> all{};
    std::size_t at = 0;
    for_each([&]<class P>() { all[at++] = scalar::kernel_of<P>; });
    return all;
  }();
};

}}}  // namespace pinion::v0::dsl

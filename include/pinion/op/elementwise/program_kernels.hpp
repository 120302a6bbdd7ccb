// The kernels of elementwise programs that a unit compiles: those that the library does not hold, if it is optimized.
#pragma once

#include <array>

#include <pinion/op/elementwise/held_programs.hpp>
#include <pinion/op/elementwise/program.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// Puts the kernels of a program, forward and backward, into this binary, unless pinion::compiled holds them.
template <class P>
void instantiate_kernels() {
  if constexpr (scalar::compiles_kernels && !held_by_library<P>) {
    (void)scalar::compile_program<P>::kernel;
    if constexpr (has_gradient_kernel<P>()) (void)scalar::compile_program<gradient_of<P>>::kernel;
  }
}

// The table of the kernels of some lists, for a unit of pinion::compiled.
template <class... List>
struct kernel_table {
  static constexpr std::array<scalar::compiled_kernel, 0> kernels{};
};
template <class... P>
requires(scalar::compiles_kernels && sizeof...(P) > 0) struct kernel_table<program_list<P...>> {
  static constexpr auto kernels = [] {
    std::array<scalar::compiled_kernel, (sizeof...(P) + ... + std::size_t{has_gradient_kernel<P>()})> all{};
    std::size_t at = 0;
    const auto put = [&]<class Q>() {
      all[at++] = scalar::kernel_of<Q>;
      if constexpr (has_gradient_kernel<Q>()) all[at++] = scalar::kernel_of<gradient_of<Q>>;
    };
    (put.template operator()<P>(), ...);
    return all;
  }();
};
template <class... P, class... Q, class... More>
struct kernel_table<program_list<P...>, program_list<Q...>, More...> : kernel_table<program_list<P..., Q...>, More...> {
};

}}}  // namespace pinion::v0::dsl

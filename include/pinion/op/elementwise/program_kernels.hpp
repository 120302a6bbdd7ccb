// The kernels of elementwise programs that a unit compiles: those that the library does not hold, if it is optimized.
#pragma once

#include <array>

#include <pinion/op/elementwise/held_programs.hpp>
#include <pinion/op/elementwise/program.hpp>
#include <pinion/scalar/compiled.hpp>
#if PINION_CUDA_KERNELS
#include <pinion/op/elementwise/cuda_ahead.cuh>
#endif

namespace pinion { inline namespace v0 { namespace dsl {

// The program that casts the adjoint of a program which casts floats back.
template <class P>
struct cast_back_of;
template <class F, element A, element R, class... O>
struct cast_back_of<mapped<F, A, R, O...>> {
  using type = mapped<scalar::functor::identity, R, A, number_argument>;
};

namespace detail {

template <class P>
void instantiate_both_ways() {
  if constexpr (scalar::compiles_kernels && !held_by_library<P>) {
    (void)scalar::compile_program<P>::kernel;
    if constexpr (has_gradient_kernel<P>()) (void)scalar::compile_program<gradient_of<P>>::kernel;
  }
#if PINION_CUDA_KERNELS
  op::compile_ahead<P>::keep();
  if constexpr (has_gradient_kernel<P>()) op::compile_ahead<gradient_of<P>>::keep();
#endif
}

}  // namespace detail

// Puts the kernels of a program, forward and backward, into this binary, unless pinion::compiled holds them. A unit of
// pinion_cuda_sources gives them kernels for GPUs, too, of which the library holds none.
template <class P>
void instantiate_kernels() {
  detail::instantiate_both_ways<P>();
  if constexpr (casts_floats<P>) detail::instantiate_both_ways<typename cast_back_of<P>::type>();
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

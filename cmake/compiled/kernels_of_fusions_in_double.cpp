// The part of pinion::compiled that holds the kernels of fusions, in double.
#include <pinion/op/elementwise/program_kernels.hpp>

using namespace pinion;

std::span<const scalar::compiled_kernel> scalar::held_kernels::of_fusions_in_double() {
  return dsl::kernel_table<dsl::held_fusions<double>>::kernels;
}

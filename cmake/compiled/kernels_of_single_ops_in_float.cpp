// The part of pinion::compiled that holds the kernels of single ops, in float.
#include <pinion/op/elementwise/program_kernels.hpp>

using namespace pinion;

std::span<const scalar::compiled_kernel> scalar::held_kernels::of_single_ops_in_float() {
  return dsl::kernel_table<dsl::held_singles<float>>::kernels;
}

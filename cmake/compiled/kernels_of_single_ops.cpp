// The part of pinion::compiled that holds the kernels of single ops, in integers and bools.
#include <pinion/op/elementwise/program_kernels.hpp>

using namespace pinion;

std::span<const scalar::compiled_kernel> scalar::held_kernels::of_single_ops() {
  return dsl::kernel_table<dsl::held_singles<std::int32_t>, dsl::held_singles<std::int64_t>,
                           dsl::held_singles<std::uint8_t>, dsl::held_singles<bool>>::kernels;
}

// The part of pinion::compiled that holds the kernels of second-order gradients, in float.
#include <pinion/op/elementwise/second_gradients.hpp>

using namespace pinion;

std::span<const scalar::compiled_kernel> scalar::held_kernels::of_second_gradients_in_float() {
  return dsl::second_gradient_table<float>::kernels;
}

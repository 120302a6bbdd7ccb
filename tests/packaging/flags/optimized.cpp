// The unit that has kernels.
#include "model.hpp"

std::vector<float> of_optimized_unit() {
  return run_model();
}

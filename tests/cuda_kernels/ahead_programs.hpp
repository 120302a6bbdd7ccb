// What the unit of kernels that are compiled ahead of time has for the tests.
#pragma once

#include <pinion/graph.hpp>

namespace cuda_tests {

// Brings along the kernels of each op of the catalogue and its gradient, in each dtype, of a cast of float to double
// and back, and of the optimizers' rules. That it is linked is enough.
void compile_ahead_programs();

// y = tanh(x w + 1/2) x, and z = tanh(x w) cast to double, whose kernels and gradients come with that unit. x has rows
// of 8.
struct ahead_model {
  pinion::expr<float> x, w, y;
  pinion::expr<double> z;
};
ahead_model make_ahead_model();

}  // namespace cuda_tests

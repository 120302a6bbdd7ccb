// expect: int32_variable_on_GPU
// expect: int32 variable on GPU
// An int32 variable has a kernel on the CPU alone.
#include <pinion/graph.hpp>

auto made() {
#ifdef ACCEPT
  return pinion::place<"/cpu:0">(pinion::variable(1));
#else
  return pinion::place<"/gpu:0">(pinion::variable(1));
#endif
}

// expect: gradients are taken by each of the parts() of a partitioned variable
// A gradient by a variable in parts has no one place to be.
#include <pinion/graph.hpp>

auto slope(const pinion::expr<float>& loss, const pinion::partitioned_variable<float>& table) {
#ifdef ACCEPT
  return pinion::gradients(loss, table.parts()[0], table.parts()[1]);
#else
  return pinion::gradients(loss, table);
#endif
}

// A user's program that includes no more than it needs.
#include <pinion/graph.hpp>

int main() {
  pinion::graph g;
  const auto use = g.as_default();
  const auto sum = pinion::constant(1.0f) + pinion::constant(2.0f);
  return g.size() == 3 && sum.shape().rank() == 0 ? 0 : 1;
}

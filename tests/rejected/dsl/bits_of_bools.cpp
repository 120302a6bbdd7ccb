// expect: bits are those of int, std::int64_t and std::uint8_t; bools have &&, || and !, and logical_xor
// Comparisons that are joined as bits.
#include <pinion/graph.hpp>
#include <pinion/op/bits/functions.hpp>

auto is_between(pinion::expr<float> x) {
#ifdef ACCEPT
  return x > 0.0f && x < 1.0f;
#else
  return (x > 0.0f) & (x < 1.0f);
#endif
}

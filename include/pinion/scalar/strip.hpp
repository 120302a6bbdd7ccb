// One run of elements for a scalar program: what both back ends, compiled and interpreted, are called with.
#pragma once

#include <cstdint>

#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// What becomes of a result along a strip.
enum class sink : std::uint8_t {
  drop,   // nobody wants it
  store,  // element i
  add,    // added to element i: a sum over outer dimensions
  sum,    // all of it added to element 0: a sum along the strip
};

inline constexpr int widest = 16;  // lanes of any value type on any instruction set, at most

// Inputs advance with the strip (advance: all bits set) or stay (0: then the pointer leads to `widest` equal elements,
// so that a kernel loads them like any other). Refers to memory of the caller.
struct strip {
  std::int64_t n = 0;
  const void* literals = nullptr;  // of the arithmetic type
  const void* in[max_inputs];
  std::int64_t advance[max_inputs];
  void* out[max_results];
  sink how[max_results];
};

}}}  // namespace pinion::v0::scalar

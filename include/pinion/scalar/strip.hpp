// A strip: one run of elements for a scalar program, the argument of both back ends, compiled and interpreted.
#pragma once

#include <cstdint>

#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The way in which a result is written along a strip.
enum class sink : std::uint8_t {
  drop,   // it is not written
  store,  // element i is set
  add,    // it is added to element i: a sum over outer dimensions
  sum,    // all of it is added to element 0: a sum along the strip
};

inline constexpr int widest = 16;  // the most lanes of a value type on any instruction set

// The arguments of one run. It refers to memory of the caller. An input advances with the strip (advance: all bits set)
// or stays (advance: 0). The pointer of one that stays leads to `widest` equal elements, so that a kernel loads them
// like any other.
struct strip {
  std::int64_t n = 0;
  const void* literals = nullptr;  // numbers of the arithmetic type
  const void* in[max_inputs];
  std::int64_t advance[max_inputs];
  void* out[max_results];
  sink how[max_results];
};

}}}  // namespace pinion::v0::scalar

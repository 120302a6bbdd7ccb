// One number of a thread on a card: the type of values that programs are computed with there.
//
// It computes what a lane of simd.hpp computes: integers wrap, x / 0 is 0, and the smallest integer / -1 is itself; min
// and max are NaN if either operand is, and of equal operands (0 and -0) the first. Real functions are CUDA's own.
//
// g++ and nvcc read the code as it stands. For NVRTC it is the text `lane_text`, which opens each unit (cuda_text.hpp);
// so it holds no directives and is C++17. On a host, where tests run it, there is no rsqrt.
#pragma once

#include <math.h>

#include <pinion/scalar/opcode.hpp>

#define PINION_TEXT_OF(...) #__VA_ARGS__
#define PINION_CODE_AND_TEXT(name, ...) __VA_ARGS__ inline constexpr char name[] = #__VA_ARGS__;

#define PINION_LANE_FUNCTION(function, ...)  \
  friend PINION_LANE lane function(lane a) { \
    return function(a.x);                    \
  }
#define PINION_LANE_FUNCTIONS PINION_REAL_FUNCTIONS(PINION_LANE_FUNCTION)

namespace pinion { inline namespace v0 { namespace cuda {

// Those of one number are found, though functions of expressions have the same names in the namespace around this one.
#if defined(__CUDACC__)
#define PINION_OF_ONE_NUMBER(function, ...) using ::function;
PINION_REAL_FUNCTIONS(PINION_OF_ONE_NUMBER)
using ::ceil, ::fabs, ::floor, ::pow, ::rint;
#undef PINION_OF_ONE_NUMBER
#endif

#undef PINION_LANE  // it stays a word of the text
#define PINION_EXPANDED(...) PINION_TEXT_OF(__VA_ARGS__)
inline constexpr char lane_functions_text[] = PINION_EXPANDED(PINION_LANE_FUNCTIONS);
#undef PINION_EXPANDED

#if defined(__CUDACC__)
#define PINION_LANE __host__ __device__ __forceinline__
#else
#define PINION_LANE inline
#endif

// clang-format off
PINION_CODE_AND_TEXT(lane_text,

// The type in which integers are added and multiplied, so that they wrap.
template <class T> struct wrapping_of { typedef T type; };
template <> struct wrapping_of<int> { typedef unsigned type; };
template <> struct wrapping_of<long> { typedef unsigned long type; };
template <> struct wrapping_of<long long> { typedef unsigned long long type; };

template <class T> struct lane {
  typedef T value_type;
  typedef typename wrapping_of<T>::type word;
  static constexpr bool is_real = T(0.5) != T(0);
  static constexpr bool has_sign = T(-1) < T(0);
  T x;

  lane() = default;
  PINION_LANE lane(T value) : x(value) {}

  friend PINION_LANE lane operator+(lane a, lane b) { return static_cast<T>(word(a.x) + word(b.x)); }
  friend PINION_LANE lane operator-(lane a, lane b) { return static_cast<T>(word(a.x) - word(b.x)); }
  friend PINION_LANE lane operator*(lane a, lane b) { return static_cast<T>(word(a.x) * word(b.x)); }
  friend PINION_LANE lane operator-(lane a) {
    if constexpr (is_real) return -a.x;
    return lane(T(0)) - a;
  }
  friend PINION_LANE lane operator/(lane a, lane b) {
    if constexpr (!is_real) {
      if (b.x == T(0)) return T(0);
      if (has_sign && b.x == T(-1)) return -a;
    }
    return static_cast<T>(a.x / b.x);
  }

  friend PINION_LANE bool operator<(lane a, lane b) { return a.x < b.x; }
  friend PINION_LANE bool operator<=(lane a, lane b) { return a.x <= b.x; }
  friend PINION_LANE bool operator==(lane a, lane b) { return a.x == b.x; }
  friend PINION_LANE bool operator!=(lane a, lane b) { return a.x != b.x; }
  friend PINION_LANE lane select(bool mask, lane a, lane b) { return mask ? a : b; }

  friend PINION_LANE lane min(lane a, lane b) { return b < a || b != b ? b : a; }
  friend PINION_LANE lane max(lane a, lane b) { return a < b || b != b ? b : a; }
  friend PINION_LANE lane abs(lane a) {
    if constexpr (is_real) return fabs(a.x);
    return has_sign && a < lane(T(0)) ? -a : a;
  }
  friend PINION_LANE lane sign(lane a) {
    if (has_sign && a < lane(T(0))) return static_cast<T>(-1);
    return lane(T(0)) < a ? lane(T(1)) : a;
  }
  friend PINION_LANE lane round(lane a) {
    if constexpr (is_real) return rint(a.x);
    return a;
  }
  friend PINION_LANE lane floor(lane a) {
    if constexpr (is_real) return floor(a.x);
    return a;
  }
  friend PINION_LANE lane ceil(lane a) {
    if constexpr (is_real) return ceil(a.x);
    return a;
  }
  friend PINION_LANE lane pow(lane a, lane b) { return pow(a.x, b.x); }
  PINION_LANE_FUNCTIONS

  // Writes the number as an element of another type, as C converts it; to one byte by way of an int.
  template <class R> PINION_LANE void put(R& to) const { to = static_cast<R>(x); }
  PINION_LANE void put(bool& to) const { to = x != T(0); }
  PINION_LANE void put(unsigned char& to) const {
    if constexpr (is_real) to = static_cast<unsigned char>(static_cast<int>(x));
    else to = static_cast<unsigned char>(x);
  }
};
)
// clang-format on

}}}  // namespace pinion::v0::cuda

#undef PINION_TEXT_OF
#undef PINION_CODE_AND_TEXT
#undef PINION_LANE_FUNCTION
#undef PINION_LANE_FUNCTIONS
#undef PINION_LANE

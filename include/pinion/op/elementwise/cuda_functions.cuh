// The operations of scalar programs in device code, for kernels that nvcc compiles. Each is that of scalar/simd.hpp and
// scalar/maths.hpp, as in the text that NVRTC compiles (scalar/cuda_text.ipp).
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <pinion/device/cuda/wrapping.cuh>
#include <pinion/scalar/opcode.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// Integers are subtracted in this type, so that they wrap.
template <class T>
using wrapping = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>;

struct scalar_functions {
  template <class T>
  static __device__ __forceinline__ T add(T a, T b) {
    return wrapped_sum(a, b);
  }
  template <class T>
  static __device__ __forceinline__ T subtract(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<wrapping<T>>(a) - static_cast<wrapping<T>>(b));
    else
      return a - b;
  }
  template <class T>
  static __device__ __forceinline__ T multiply(T a, T b) {
    return wrapped_product(a, b);
  }
  template <class T>
  static __device__ __forceinline__ T negate(T a) {
    if constexpr (std::is_integral_v<T>)
      return subtract(T(0), a);
    else
      return -a;
  }
  // Integers without traps: x / 0 is 0, and the smallest integer / -1 is itself.
  template <class T>
  static __device__ __forceinline__ T divide(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return negate(a);
    }
    return static_cast<T>(a / b);
  }
  // NaN if either operand is; of equal operands (0 and -0) the first.
  template <class T>
  static __device__ __forceinline__ T minimum(T a, T b) {
    return b < a || b != b ? b : a;
  }
  template <class T>
  static __device__ __forceinline__ T maximum(T a, T b) {
    return a < b || b != b ? b : a;
  }
  template <class T>
  static __device__ __forceinline__ T absolute(T a) {
    if constexpr (std::is_same_v<T, float>)
      return fabsf(a);
    else if constexpr (std::is_same_v<T, double>)
      return fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < T(0) ? negate(a) : a;
    else
      return a;
  }
  // -1, 0 or 1; a zero keeps its sign, and NaN stays NaN.
  template <class T>
  static __device__ __forceinline__ T sign(T a) {
    if constexpr (std::is_signed_v<T>)
      if (a < T(0)) return T(-1);
    return a > T(0) ? T(1) : a;
  }
};

// The functions of real numbers. Integers stay as they are.
#define PINION_REAL(name, single_precision, double_precision) \
  __device__ __forceinline__ float real_##name(float x) {     \
    return single_precision(x);                               \
  }                                                           \
  __device__ __forceinline__ double real_##name(double x) {   \
    return double_precision(x);                               \
  }                                                           \
  template <class T>                                          \
  __device__ __forceinline__ T real_##name(T x) {             \
    return x;                                                 \
  }
#define PINION_REAL_BY_NAME(name) PINION_REAL(name, name##f, name)
PINION_REAL_FUNCTIONS(PINION_REAL_BY_NAME)
PINION_REAL_BY_NAME(floor)
PINION_REAL_BY_NAME(ceil)
PINION_REAL(round, rintf, rint)
#undef PINION_REAL_BY_NAME
#undef PINION_REAL
__device__ __forceinline__ float real_power(float x, float y) {
  return powf(x, y);
}
__device__ __forceinline__ double real_power(double x, double y) {
  return pow(x, y);
}
template <class T>
__device__ __forceinline__ T real_power(T x, T) {
  return x;
}

// One operation on numbers, of which a function of one operand takes the first.
template <scalar::opcode Op, class T>
__device__ __forceinline__ T computed(T a, T b) {
  using scalar::opcode;
  using f = scalar_functions;
  if constexpr (Op == opcode::add)
    return f::add(a, b);
  else if constexpr (Op == opcode::subtract)
    return f::subtract(a, b);
  else if constexpr (Op == opcode::multiply)
    return f::multiply(a, b);
  else if constexpr (Op == opcode::divide)
    return f::divide(a, b);
  else if constexpr (Op == opcode::minimum)
    return f::minimum(a, b);
  else if constexpr (Op == opcode::maximum)
    return f::maximum(a, b);
  else if constexpr (Op == opcode::power)
    return real_power(a, b);
  else if constexpr (Op == opcode::negate)
    return f::negate(a);
  else if constexpr (Op == opcode::absolute)
    return f::absolute(a);
  else if constexpr (Op == opcode::sign)
    return f::sign(a);
#define PINION_OPCODE(function) else if constexpr (Op == opcode::function) return real_##function(a);
  PINION_REAL_FUNCTIONS(PINION_OPCODE)
#undef PINION_OPCODE
  else if constexpr (Op == opcode::floor) return real_floor(a);
  else if constexpr (Op == opcode::ceil) return real_ceil(a);
  else return real_round(a);
}

// Numbers are converted as C does, to one byte by way of an int.
template <class Stored, class T>
__device__ __forceinline__ Stored converted(T value) {
  if constexpr (std::is_same_v<Stored, bool>)
    return value != T(0);
  else if constexpr (std::is_same_v<Stored, std::uint8_t> && std::is_floating_point_v<T>)
    return static_cast<std::uint8_t>(static_cast<int>(value));
  else
    return static_cast<Stored>(value);
}

}}}  // namespace pinion::v0::cuda

// The few instructions that the compilers' vector extensions do not emit: square root, minimum, scaling by 2^n and
// stores past the cache.
//
// Inline assembly needs its instruction set enabled in the function around it, so each instruction has a function of
// its own, which is inlined into the kernel after its caller. Vectors are passed by reference, which no calling
// convention affects.
#pragma once

#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/scalar/isa.hpp>

PINION_EXACT_BEGIN
namespace pinion { inline namespace v0 { namespace scalar { namespace detail {

// The compiler's vector type, aligned to its size. A typedef with less alignment or with may_alias makes g++ 12 compute
// selects lane by lane.
template <class T, int N>
struct vector_of {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <class T, int N>
using vector = typename vector_of<T, N>::type;

// min(a, b) and max(a, b) are b < a ? b : a and a < b ? b : a as the instructions compute them, zeros included, and a
// where either is NaN, if b is their first operand. clang finds these instructions by itself; g++ 12 would compare and
// blend.
#if defined(__clang__)
inline constexpr bool use_native_min = false;
#else
inline constexpr bool use_native_min = true;
#endif
// A number that the compiler does not know, in all lanes: g++ 12 would set lane by lane.
inline constexpr bool use_native_splat = use_native_min;

// The instructions that an instruction set has. For those that it lacks, simd.hpp and maths.hpp have another way.
struct nothing_native {
  static constexpr bool has_square_root = false;
  static constexpr bool has_min = false;
  static constexpr bool has_scale = false;
  static constexpr bool has_splat = false;
  static constexpr bool has_stream = false;
};

template <class Isa>
struct native : nothing_native {};

#if defined(__x86_64__)
#define PINION_AVX2 __attribute__((target("avx2,fma")))
#define PINION_AVX512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))

template <>
struct native<isa::baseline> : nothing_native {
  using floats = vector<float, 4>;
  using doubles = vector<double, 2>;

  static constexpr bool has_square_root = true;
  static void square_root(floats& y, const floats& x) { asm("sqrtps %1, %0" : "=x"(y) : "x"(x)); }
  static void square_root(doubles& y, const doubles& x) { asm("sqrtpd %1, %0" : "=x"(y) : "x"(x)); }

  static constexpr bool has_min = use_native_min;  // the result takes the place of b here
  static void min(floats& y, const floats& a, const floats& b) { asm("minps %1, %0" : "=x"(y) : "x"(a), "0"(b)); }
  static void min(doubles& y, const doubles& a, const doubles& b) { asm("minpd %1, %0" : "=x"(y) : "x"(a), "0"(b)); }
  static void max(floats& y, const floats& a, const floats& b) { asm("maxps %1, %0" : "=x"(y) : "x"(a), "0"(b)); }
  static void max(doubles& y, const doubles& a, const doubles& b) { asm("maxpd %1, %0" : "=x"(y) : "x"(a), "0"(b)); }

  static constexpr bool has_stream = true;  // to an aligned address; a fence makes it visible to other threads
  static void stream(float* p, const floats& x) { asm("movntps %1, %0" : "=m"(*(floats*)p) : "x"(x)); }
  static void fence() { asm volatile("sfence" ::: "memory"); }
};

template <>
struct native<isa::avx2> : nothing_native {
  using floats = vector<float, 8>;
  using doubles = vector<double, 4>;

  static constexpr bool has_square_root = true;
  PINION_AVX2 static void square_root(floats& y, const floats& x) { asm("vsqrtps %1, %0" : "=x"(y) : "x"(x)); }
  PINION_AVX2 static void square_root(doubles& y, const doubles& x) { asm("vsqrtpd %1, %0" : "=x"(y) : "x"(x)); }

  static constexpr bool has_splat = use_native_splat;
  PINION_AVX2 static void splat(floats& y, float x) { asm("vbroadcastss %1, %0" : "=x"(y) : "x"(x)); }
  PINION_AVX2 static void splat(doubles& y, double x) { asm("vbroadcastsd %1, %0" : "=x"(y) : "x"(x)); }

  static constexpr bool has_min = use_native_min;
  PINION_AVX2 static void min(floats& y, const floats& a, const floats& b) {
    asm("vminps %1, %2, %0" : "=x"(y) : "x"(a), "x"(b));
  }
  PINION_AVX2 static void min(doubles& y, const doubles& a, const doubles& b) {
    asm("vminpd %1, %2, %0" : "=x"(y) : "x"(a), "x"(b));
  }
  PINION_AVX2 static void max(floats& y, const floats& a, const floats& b) {
    asm("vmaxps %1, %2, %0" : "=x"(y) : "x"(a), "x"(b));
  }
  PINION_AVX2 static void max(doubles& y, const doubles& a, const doubles& b) {
    asm("vmaxpd %1, %2, %0" : "=x"(y) : "x"(a), "x"(b));
  }

  static constexpr bool has_stream = true;  // to an aligned address; a fence makes it visible to other threads
  PINION_AVX2 static void stream(float* p, const floats& x) { asm("vmovntps %1, %0" : "=m"(*(floats*)p) : "x"(x)); }
  static void fence() { asm volatile("sfence" ::: "memory"); }
};

template <>
struct native<isa::avx512> : nothing_native {
  using floats = vector<float, 16>;
  using doubles = vector<double, 8>;

  static constexpr bool has_square_root = true;
  PINION_AVX512 static void square_root(floats& y, const floats& x) { asm("vsqrtps %1, %0" : "=v"(y) : "v"(x)); }
  PINION_AVX512 static void square_root(doubles& y, const doubles& x) { asm("vsqrtpd %1, %0" : "=v"(y) : "v"(x)); }

  static constexpr bool has_splat = use_native_splat;
  PINION_AVX512 static void splat(floats& y, float x) { asm("vbroadcastss %1, %0" : "=v"(y) : "v"(x)); }
  PINION_AVX512 static void splat(doubles& y, double x) { asm("vbroadcastsd %1, %0" : "=v"(y) : "v"(x)); }

  static constexpr bool has_min = use_native_min;
  PINION_AVX512 static void min(floats& y, const floats& a, const floats& b) {
    asm("vminps %1, %2, %0" : "=v"(y) : "v"(a), "v"(b));
  }
  PINION_AVX512 static void min(doubles& y, const doubles& a, const doubles& b) {
    asm("vminpd %1, %2, %0" : "=v"(y) : "v"(a), "v"(b));
  }
  PINION_AVX512 static void max(floats& y, const floats& a, const floats& b) {
    asm("vmaxps %1, %2, %0" : "=v"(y) : "v"(a), "v"(b));
  }
  PINION_AVX512 static void max(doubles& y, const doubles& a, const doubles& b) {
    asm("vmaxpd %1, %2, %0" : "=v"(y) : "v"(a), "v"(b));
  }

  static constexpr bool has_scale = true;  // x 2^n, rounded correctly also where it is denormal
  PINION_AVX512 static void scale(floats& y, const floats& x, const floats& n) {
    asm("vscalefps %2, %1, %0" : "=v"(y) : "v"(x), "v"(n));
  }
  PINION_AVX512 static void scale(doubles& y, const doubles& x, const doubles& n) {
    asm("vscalefpd %2, %1, %0" : "=v"(y) : "v"(x), "v"(n));
  }

  static constexpr bool has_stream = true;  // to an aligned address; a fence makes it visible to other threads
  PINION_AVX512 static void stream(float* p, const floats& x) { asm("vmovntps %1, %0" : "=m"(*(floats*)p) : "v"(x)); }
  static void fence() { asm volatile("sfence" ::: "memory"); }
};

#undef PINION_AVX2
#undef PINION_AVX512
#endif

// The lanes of a vector from one on, and all lanes of two vectors.
#if !defined(__CUDACC__)
template <int From, class V, int... I>
PINION_VECTOR auto lanes_from(const V& x, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(x, x, From + I...);
}
template <class V, int... I>
PINION_VECTOR auto joined(const V& low, const V& high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, I...);
}
#else  // nvcc hands the packs in builtins on unexpanded
template <int From, class V, int... I>
PINION_VECTOR auto lanes_from(const V& x, std::integer_sequence<int, I...>) {
  return vector<std::remove_cvref_t<decltype(x[0])>, sizeof...(I)>{x[From + I]...};
}
template <class V, int... I>
PINION_VECTOR auto joined(const V& low, const V& high, std::integer_sequence<int, I...>) {
  constexpr int half = sizeof...(I) / 2;
  return vector<std::remove_cvref_t<decltype(low[0])>, 2 * half>{(I < half ? low[I % half] : high[I % half])...};
}
#endif

}}}}  // namespace pinion::v0::scalar::detail
PINION_EXACT_END

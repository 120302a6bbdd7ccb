// The words of CUDA C that kernels use, as C++ for the host: forced into a unit by -include, before all else.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "block.hpp"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

inline thread_local fake_cuda::place threadIdx{}, blockIdx{}, blockDim{}, gridDim{};
constexpr int warpSize = 32;

namespace fake_cuda {

inline thread_local block* running = nullptr;  // that of the calling OS thread

inline variables own_variables() {
  return {&threadIdx, &blockIdx, &blockDim, &gridDim, &running};
}

}  // namespace fake_cuda

// Barriers and exchanges between threads.

inline void __syncthreads(int line = __builtin_LINE()) {
  fake_cuda::running->synchronize(*fake_cuda::running, line);
}

namespace fake_cuda {

inline unsigned lane() {
  return threadIdx.x % 32;
}

// The value that lane `source` gives, for values of up to eight bytes.
template <class T>
T from_lane(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8);
  unsigned long long word = 0;
  memcpy(&word, &value, sizeof value);
  word = running->exchange(*running, mask, word, source);
  memcpy(&value, &word, sizeof value);
  return value;
}

// The lane at a place of the caller's group of `width` lanes.
inline unsigned lane_of_group(int at, int width) {
  return lane() / static_cast<unsigned>(width) * static_cast<unsigned>(width) + static_cast<unsigned>(at);
}

}  // namespace fake_cuda

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return fake_cuda::from_lane(mask, value, fake_cuda::lane_of_group(source & (width - 1), width));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int at = static_cast<int>(fake_cuda::lane()) % width, other = at + static_cast<int>(by);
  return fake_cuda::from_lane(mask, value, fake_cuda::lane_of_group(other < width ? other : at, width));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int at = static_cast<int>(fake_cuda::lane()) % width, other = at - static_cast<int>(by);
  return fake_cuda::from_lane(mask, value, fake_cuda::lane_of_group(other >= 0 ? other : at, width));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  const int at = static_cast<int>(fake_cuda::lane()) % width, other = at ^ by;
  return fake_cuda::from_lane(mask, value, fake_cuda::lane_of_group(other < width ? other : at, width));
}
inline unsigned __ballot_sync(unsigned mask, int value) {
  using fake_cuda::running;
  return static_cast<unsigned>(running->exchange(*running, mask, value != 0, fake_cuda::block::ballot));
}
inline int __any_sync(unsigned mask, int value) {
  return __ballot_sync(mask, value) != 0;
}
inline int __all_sync(unsigned mask, int value) {
  return __ballot_sync(mask, !value) == 0;
}
inline void __syncwarp(unsigned mask = ~0u) {
  __ballot_sync(mask, 0);
}

// Words that are changed as a whole. Each returns what was there before.

namespace fake_cuda {

template <class T, class F>
T change(T* word, F next) {
  T before = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &before, next(before), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return before;
}

template <class T>
struct same {
  using type = T;
};
template <class T>
using same_t = typename same<T>::type;  // a parameter from which no T is deduced

}  // namespace fake_cuda

template <class T>
T atomicMin(T* word, fake_cuda::same_t<T> value) {
  return fake_cuda::change(word, [=](T before) { return value < before ? value : before; });
}
template <class T>
T atomicMax(T* word, fake_cuda::same_t<T> value) {
  return fake_cuda::change(word, [=](T before) { return before < value ? value : before; });
}
template <class T>
T atomicAdd(T* word, fake_cuda::same_t<T> value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicOr(T* word, fake_cuda::same_t<T> value) {
  return __atomic_fetch_or(word, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicExch(T* word, fake_cuda::same_t<T> value) {
  return __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicCAS(T* word, fake_cuda::same_t<T> expected, fake_cuda::same_t<T> value) {
  return fake_cuda::change(word, [=](T before) { return before == expected ? value : before; });
}

// Loads and stores that pass by a cache.

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, T value) {
  *to = value;
}
template <class T>
void __stwb(T* to, T value) {
  *to = value;
}

// Integers and bits.

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}

namespace fake_cuda {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace fake_cuda

inline float __int_as_float(int bits) {
  return fake_cuda::bits_as<float>(bits);
}
inline float __uint_as_float(unsigned bits) {
  return fake_cuda::bits_as<float>(bits);
}
inline int __float_as_int(float x) {
  return fake_cuda::bits_as<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return fake_cuda::bits_as<unsigned>(x);
}
inline double __longlong_as_double(long long bits) {
  return fake_cuda::bits_as<double>(bits);
}
inline long long __double_as_longlong(double x) {
  return fake_cuda::bits_as<long long>(x);
}

// Numbers.

inline float rsqrtf(float x) {
  return 1.f / sqrtf(x);
}
inline float rsqrt(float x) {
  return rsqrtf(x);
}
inline double rsqrt(double x) {
  return 1. / sqrt(x);
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __fma_rn(double a, double b, double c) {
  return fma(a, b, c);
}

#define FAKE_CUDA_MIN_MAX(type)     \
  inline type min(type a, type b) { \
    return b < a ? b : a;           \
  }                                 \
  inline type max(type a, type b) { \
    return a < b ? b : a;           \
  }
FAKE_CUDA_MIN_MAX(int)
FAKE_CUDA_MIN_MAX(unsigned)
FAKE_CUDA_MIN_MAX(long)
FAKE_CUDA_MIN_MAX(unsigned long)
FAKE_CUDA_MIN_MAX(long long)
FAKE_CUDA_MIN_MAX(unsigned long long)
#undef FAKE_CUDA_MIN_MAX
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}

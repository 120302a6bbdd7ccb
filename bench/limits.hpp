// Limits of the machine as loops: multiply-adds in registers, and memory that is only moved.
#pragma once

#include <cstdint>
#include <cstring>

#include <pinion/scalar/simd.hpp>

namespace bench {

namespace ps = pinion::scalar;

// Ten independent chains of multiply-adds, which hide the latency of both units.
struct multiply_adds {
  static constexpr int chains = 10;
  template <class Isa>
  static PINION_INLINE void run(float* x, std::int64_t rounds) {
    using V = ps::simd<float, Isa>;
    const V m = V::load(x);
    V a0 = x[0], a1 = x[1], a2 = x[2], a3 = x[3], a4 = x[4], a5 = x[5], a6 = x[6], a7 = x[7], a8 = x[8], a9 = x[9];
    for (std::int64_t i = 0; i < rounds; ++i) {
      a0 = fma(a0, m, m), a1 = fma(a1, m, m), a2 = fma(a2, m, m), a3 = fma(a3, m, m), a4 = fma(a4, m, m);
      a5 = fma(a5, m, m), a6 = fma(a6, m, m), a7 = fma(a7, m, m), a8 = fma(a8, m, m), a9 = fma(a9, m, m);
    }
    (((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) + (a8 + a9)).store(x + 16);
  }
};

// Does as many floating-point operations at the peak of one thread.
inline void peak_operations(double operations) {
  alignas(64) static thread_local float x[32] = {.50f, .51f, .52f, .53f, .54f, .55f, .56f, .57f,
                                                 .58f, .59f, .60f, .61f, .62f, .63f, .64f, .65f};
  const int lanes = ps::isa::bytes(ps::isa::best()) / 4;
  ps::dispatch<multiply_adds>(static_cast<float*>(x),
                              static_cast<std::int64_t>(operations / (2 * multiply_adds::chains * lanes)));
}

// Reads n floats, and keeps of them a sum. n is a multiple of 128.
struct read_floats {
  template <class Isa>
  static PINION_INLINE void run(const float* x, std::int64_t n, float* sum) {
    using V = ps::simd<float, Isa>;
    V a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (std::int64_t i = 0; i < n; i += 4 * V::lanes) {
      a = a + V::load(x + i), b = b + V::load(x + i + V::lanes);
      c = c + V::load(x + i + 2 * V::lanes), d = d + V::load(x + i + 3 * V::lanes);
    }
    ((a + b) + (c + d)).store(sum);
  }
};

}  // namespace bench

// Nanoseconds for an element of a map over 4096 floats (in the first-level cache), on every instruction set.
#include <benchmark/benchmark.h>

#include <string>

#include "pinion/scalar/maths.hpp"

namespace {

namespace ps = pinion::scalar;

struct exp_map {
  template <class V>
  static PINION_INLINE V of(V x, V) {
    return exp(x);
  }
};
struct log_map {
  template <class V>
  static PINION_INLINE V of(V x, V) {
    return log(x);
  }
};
struct tanh_map {
  template <class V>
  static PINION_INLINE V of(V x, V) {
    return tanh(x);
  }
};
struct erf_map {
  template <class V>
  static PINION_INLINE V of(V x, V) {
    return erf(x);
  }
};
struct sin_map {
  template <class V>
  static PINION_INLINE V of(V x, V) {
    return sin(x);
  }
};
struct pow_map {
  template <class V>
  static PINION_INLINE V of(V x, V b) {
    return pow(x, b);
  }
};
struct bias_elu {
  template <class V>
  static PINION_INLINE V of(V x, V b) {
    const V y = x + b;
    return select(y > 0, y, expm1(y));
  }
};
struct bias_relu {
  template <class V>
  static PINION_INLINE V of(V x, V b) {
    return max(x + b, 0);
  }
};

template <class F>
struct kernel {
  template <class Isa>
  static PINION_INLINE void run(const float* x, const float* b, float* y, int n) {
    using V = ps::simd<float, Isa>;
    for (int i = 0; i < n; i += V::lanes) F::of(V::load(x + i), V::load(b + i)).store(y + i);
  }
};

template <class F>
void measure(const char* name) {
  constexpr int n = 4096;
  for (int isa = 0; isa <= ps::isa::best(); ++isa) {
    const auto run = ps::entries<kernel<F>, const float*, const float*, float*, int>[isa];
    benchmark::RegisterBenchmark(
        (name + ("/" + std::string(ps::isa::name(isa)))).c_str(), [run](benchmark::State& state) {
          alignas(64) static float x[n], b[n], y[n];
          for (int i = 0; i < n; ++i) x[i] = float(i % 1000) / 100 - 5, b[i] = float(i % 77) / 77;
          for (auto _ : state) {
            run(x, b, y, n);
            benchmark::ClobberMemory();
          }
          using counter = benchmark::Counter;
          state.counters["s/element"] = counter(n, counter::kIsIterationInvariantRate | counter::kInvert);
        });
  }
}

}  // namespace

int main(int argc, char** argv) {
  measure<exp_map>("exp");
  measure<log_map>("log");
  measure<tanh_map>("tanh");
  measure<erf_map>("erf");
  measure<sin_map>("sin");
  measure<pow_map>("pow");
  measure<bias_elu>("bias_elu");
  measure<bias_relu>("bias_relu");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

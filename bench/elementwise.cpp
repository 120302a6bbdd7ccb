// Nanoseconds for an element of a map over 4096 floats (in the first-level cache), on every instruction set: of loops
// written out, and of the kernel that an expression of the DSL gets (dsl_...), or would get where this binary had none
// for it (interpreted_...).
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include <pinion/graph.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/maths.hpp>

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

constexpr int n = 4096;
alignas(64) float x[n], b[n], y[n];

template <class Run>
void enlist(const std::string& name, int isa, Run run) {
  benchmark::RegisterBenchmark((name + "/" + std::string(ps::isa::name(isa))).c_str(), [run](benchmark::State& state) {
    for (int i = 0; i < n; ++i) x[i] = float(i % 1000) / 100 - 5, b[i] = float(i % 77) / 77;
    for (auto _ : state) {
      run();
      benchmark::ClobberMemory();
    }
    using counter = benchmark::Counter;
    state.counters["s/element"] = counter(n, counter::kIsIterationInvariantRate | counter::kInvert);
  });
}

template <class F>
void measure(const char* name) {
  for (int isa = 0; isa <= ps::isa::best(); ++isa) {
    const auto run = ps::entries<kernel<F>, const float*, const float*, float*, int>[isa];
    enlist(name, isa, [run] { run(x, b, y, n); });
  }
}

// An expression of two placeholders, by the runner of its node's program.
template <class Expression>
void measure_dsl(const std::string& name, Expression make) {
  using pinion::op::program_runner;
  pinion::graph g;
  const auto use = g.as_default();
  const auto left = pinion::placeholder<float>({n}), right = pinion::placeholder<float>({n});
  const auto program = pinion::op::program_of(make(left, right).node().attrs);
  for (const auto back_end : {program_runner::any, program_runner::interpreter_only}) {
    for (int isa = 0; isa <= ps::isa::best(); ++isa) {
      const auto runner = std::make_shared<program_runner>(program, back_end, isa);
      enlist((runner->compiled() ? "dsl_" : "interpreted_") + name, isa, [runner] {
        ps::strip s;
        s.n = n;
        s.in[0] = x, s.in[1] = b;
        s.advance[0] = s.advance[1] = ~std::int64_t{0};
        s.out[0] = y, s.how[0] = ps::sink::store;
        (*runner)(s);
      });
    }
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
  measure_dsl("bias_elu", [](const auto& x, const auto& b) { return pinion::elu(x + b); });
  measure<bias_relu>("bias_relu");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

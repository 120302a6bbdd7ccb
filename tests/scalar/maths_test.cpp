#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "maths_table.hpp"

namespace {

using namespace pinion_test;
namespace isa = pinion::scalar::isa;

template <class T>
void check_bounds(std::size_t count) {
  for (const auto& f : maths_functions<T>()) {
    const auto x = sample_values<T>(count, f.reach, 1);
    const auto y = f.binary ? sample_values<T>(count, 10, 2) : x;
    const auto result = measure(f, x, y);
    for (std::size_t i = 0; i < result.size(); ++i) {
      INFO(f.name << " on " << isa::name(int(i)) << " at " << result[i].x << ", " << result[i].x2);
      CHECK(result[i].error <= f.bound);
    }
  }
}

TEST_CASE("the functions of float keep the errors they state", "[maths]") {
  check_bounds<float>(40000);
}

TEST_CASE("the functions of double keep the errors they state", "[maths]") {
  check_bounds<double>(40000);
}

template <class T>
void check_pow_of_special_values() {
  const auto special = special_values<T>();
  std::vector<T> x, y;
  for (T a : special) {
    for (T b : special) x.push_back(a), y.push_back(b);
  }
  for (const auto& f : maths_functions<T>()) {
    if (!f.binary) continue;
    for (const auto& worst : measure(f, x, y)) {
      INFO(f.name << " of " << worst.x << ", " << worst.x2);
      CHECK(worst.error <= f.bound);
    }
  }
}

TEST_CASE("pow has the special cases of C", "[maths]") {
  check_pow_of_special_values<float>();
  check_pow_of_special_values<double>();
}

// Which NaN it is, is left open.
template <class T>
bool same_bits(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check_lane_position(const maths_function<T>& f, int isa) {
  const auto values = special_values<T>();
  for (T value : values) {
    std::vector<T> x(19, T(0.75)), y(19), first(1);
    f.run[isa](&value, &value, first.data(), 1);  // through the tail
    for (std::size_t at = 0; at < x.size(); ++at) {
      x[at] = value;
      f.run[isa](x.data(), x.data(), y.data(), int(x.size()));
      INFO(f.name << " on " << isa::name(isa) << " of " << value << " in lane " << at);
      CHECK(same_bits(y[at], first[0]));
      x[at] = T(0.75);
    }
  }
}

TEST_CASE("a result does not depend on the lane, the neighbours or the tail", "[maths]") {
  for (int isa = 0; isa <= isa::best(); ++isa) {
    for (const auto& f : maths_functions<float>()) check_lane_position(f, isa);
    for (const auto& f : maths_functions<double>()) check_lane_position(f, isa);
  }
}

// A functor as a user writes it: numbers beside values, choices between numbers.
struct elu {
  template <class V>
  PINION_INLINE V operator()(V x) const {
    return select(x > 0, x, expm1(x));
  }
};
struct derivative {
  template <class V>
  PINION_INLINE V operator()(V x) const {
    return select(x > 0, 1, exp(x)) + pow(2.0f, x) * select(x < 0 || x > 6, 0, 1);
  }
};

template <class F>
struct map {
  template <class Isa>
  static PINION_INLINE void run(const float* x, float* y, int n) {
    using V = pinion::scalar::simd<float, Isa>;
    for (int i = 0; i < n; i += V::lanes) F{}(V::load(x + i)).store(y + i);
  }
};

TEST_CASE("a functor template mixes values with numbers", "[maths]") {
  float x[64], y[64];
  for (int i = 0; i < 64; ++i) x[i] = 0.25f * float(i) - 8;
  for (int isa = 0; isa <= isa::best(); ++isa) {
    pinion::scalar::entries<map<elu>, const float*, float*, int>[isa](x, y, 64);
    for (int i = 0; i < 64; ++i) CHECK(y[i] == Approx(x[i] > 0 ? x[i] : std::expm1(x[i])));
    pinion::scalar::entries<map<derivative>, const float*, float*, int>[isa](x, y, 64);
    for (int i = 0; i < 64; ++i) {
      const float inside = x[i] < 0 || x[i] > 6 ? 0.0f : std::exp2(x[i]);
      CHECK(y[i] == Approx((x[i] > 0 ? 1.0f : std::exp(x[i])) + inside));
    }
  }
}

}  // namespace

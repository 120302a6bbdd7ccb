#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pinion/scalar/simd.hpp"

#include <support/caught.hpp>

namespace {

using namespace pinion::scalar;

// y[i] = F(x[i], x2[i]) over whole vectors and a tail.
template <class F>
struct map {
  template <class Isa, class T>
  static PINION_INLINE void run(const T* x, const T* x2, T* y, int n) {
    using V = simd<T, Isa>;
    for (int i = 0; i < n; i += V::lanes) F::of(V::load(x + i, n - i), V::load(x2 + i, n - i)).store(y + i, n - i);
  }
};

// Checks F on vectors against the same F on plain numbers, for each pair of values and each instruction set.
template <class F, class T>
void check_against_scalar(std::vector<T> values) {
  std::vector<T> x, x2;
  for (T a : values) {
    for (T b : values) x.push_back(a), x2.push_back(b);
  }
  for (int isa = 0; isa <= isa::best(); ++isa) {
    std::vector<T> y(x.size());
    entries<map<F>, const T*, const T*, T*, int>[isa](x.data(), x2.data(), y.data(), int(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T want = F::plain(x[i], x2[i]);
      const bool both_nan = want != want && y[i] != y[i];
      const bool same = y[i] == want && std::signbit(double(y[i])) == std::signbit(double(want));
      if (!both_nan && !same) {
        FAIL_CHECK(isa::name(isa) << ": of " << +x[i] << ", " << +x2[i] << " is " << +y[i] << ", not " << +want);
      }
    }
  }
  SUCCEED();
}

template <class T>
std::vector<T> values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> v = {0, 1, 2, 3, 7, 100, limits::max(), limits::min(), T(limits::max() - 1), T(limits::max() / 2)};
  if constexpr (std::is_signed_v<T>) v.insert(v.end(), {T(-1), T(-2), T(-7), T(-100), T(limits::lowest() + 1)});
  if constexpr (std::is_floating_point_v<T>) {
    v.insert(v.end(), {T(-0.0), T(0.5), T(-0.5), T(1.5), T(2.5), T(-2.5), T(8388607.5), T(0.49999997), T(1e-40)});
    v.insert(v.end(), {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(4503599627370495.5)});
  }
  return v;
}

#define FUNCTION(name, vector, scalar)    \
  struct name {                           \
    template <class V>                    \
    static PINION_INLINE V of(V x, V y) { \
      (void)y;                            \
      return vector;                      \
    }                                     \
    template <class T>                    \
    static T plain(T x, T y) {            \
      (void)y;                            \
      return T(scalar);                   \
    }                                     \
  };

template <class T>
using word = detail::wrapping<T>;

FUNCTION(add, x + y, word<T>(x) + word<T>(y))
FUNCTION(subtract, x - y, word<T>(x) - word<T>(y))
FUNCTION(negate, -x, std::is_integral_v<T> ? T(word<T>(0) - word<T>(x)) : T(-x))
FUNCTION(multiply, x* y, word<T>(x) * word<T>(y))
FUNCTION(divide_floats, x / y, x / y)
FUNCTION(divide_integers, x / y,
         y == 0                              ? 0
         : std::is_signed_v<T> && y == T(-1) ? word<T>(0) - word<T>(x)
                                             : word<T>(x / y))
FUNCTION(least, min(x, y), y != y || y < x ? y : x)
FUNCTION(greatest, max(x, y), y != y || x < y ? y : x)
FUNCTION(magnitude, abs(x), std::abs(x))
FUNCTION(sign_of, sign(x), x > 0 ? 1 : x < 0 ? -1 : x)
FUNCTION(root, sqrt(x), std::sqrt(x))
FUNCTION(down, floor(x), std::floor(x))
FUNCTION(up, ceil(x), std::ceil(x))
FUNCTION(nearest, round(x), std::nearbyint(x))
FUNCTION(if_less, select(x < y, x, y + 1), x < y ? x : T(word<T>(y) + 1))
FUNCTION(if_all, select(x <= y && !(x == 1) && (x >= 0 || y != 2), 1, 2),
         x <= y && x != 1 && (x >= 0 || y != 2) ? 1 : 2)
FUNCTION(nested, select(x > 1, select(y > 1, x, 0), 0), x > 1 && y > 1 ? x : 0)
FUNCTION(shift, (x << 3) >> 2, T(word<T>(x) << 3) >> 2)
FUNCTION(bits, ((x & y) | 8) ^ y, ((x & y) | 8) ^ y)

template <class T>
void check_arithmetic() {
  check_against_scalar<add>(values<T>());
  check_against_scalar<subtract>(values<T>());
  check_against_scalar<multiply>(values<T>());
  check_against_scalar<negate>(values<T>());
  check_against_scalar<least>(values<T>());
  check_against_scalar<greatest>(values<T>());
  check_against_scalar<sign_of>(values<T>());
  check_against_scalar<if_less>(values<T>());
  check_against_scalar<if_all>(values<T>());
  check_against_scalar<nested>(values<T>());
}

TEST_CASE("an instruction set is supported if a wider one is", "[isa]") {
  REQUIRE(isa::baseline::supported());
  REQUIRE(isa::best() < isa::count);
  REQUIRE(isa::name(0) == "baseline");
  STATIC_REQUIRE(isa::index_of<isa::baseline> == 0);
  bool before = true;
  isa::for_each([&]<class Isa>(int) {
    CHECK((before || !Isa::supported()));
    before = Isa::supported();
  });
}

TEST_CASE("a limit lowers the choice of an instruction set and never raises it", "[isa]") {
  const int widest = isa::detail::choose("");
  CHECK(isa::detail::choose("baseline") == 0);
  CHECK(isa::detail::choose("avx512") == widest);
  CHECK(isa::detail::choose("no such thing") == widest);
  CHECK(isa::detail::choose("avx2") == std::min(widest, 1));
}

struct note_isa {
  template <class Isa>
  static PINION_INLINE void run(int* index, int plus) {
    *index = isa::index_of<Isa> + plus;
  }
};

TEST_CASE("dispatch enters the best instruction set", "[isa]") {
  int index = -1;
  dispatch<note_isa>(&index, 10);
  CHECK(index == isa::best() + 10);
}

TEST_CASE("arithmetic, comparison and selection on vectors are those on numbers", "[simd]") {
  check_arithmetic<float>();
  check_arithmetic<double>();
  check_arithmetic<std::int32_t>();
  check_arithmetic<std::int64_t>();
  check_arithmetic<std::uint8_t>();
}

TEST_CASE("floating-point division, roots and roundings are exact", "[simd]") {
  check_against_scalar<divide_floats>(values<float>());
  check_against_scalar<divide_floats>(values<double>());
  check_against_scalar<root>(values<float>());
  check_against_scalar<root>(values<double>());
  check_against_scalar<magnitude>(values<float>());
  check_against_scalar<magnitude>(values<double>());
  check_against_scalar<down>(values<float>());
  check_against_scalar<down>(values<double>());
  check_against_scalar<up>(values<float>());
  check_against_scalar<up>(values<double>());
  check_against_scalar<nearest>(values<float>());
  check_against_scalar<nearest>(values<double>());
}

TEST_CASE("an integer divided by zero is zero, and the smallest by -1 is itself", "[simd]") {
  check_against_scalar<divide_integers>(values<std::int32_t>());
  check_against_scalar<divide_integers>(values<std::int64_t>());
  check_against_scalar<divide_integers>(values<std::uint8_t>());
}

TEST_CASE("integers shift and mask as words", "[simd]") {
  check_against_scalar<shift>(values<std::int32_t>());
  check_against_scalar<shift>(values<std::int64_t>());
  check_against_scalar<bits>(values<std::int32_t>());
  check_against_scalar<bits>(values<std::int64_t>());
}

// ---- memory

template <class T>
struct copy_tail {
  template <class Isa>
  static PINION_INLINE void run(const T* from, T* to, int* lanes, int n) {
    *lanes = simd<T, Isa>::lanes;
    if (n <= *lanes) simd<T, Isa>::load(from, n).store(to, n);
  }
};

template <class T>
void check_tails() {
  for (int isa = 0; isa <= isa::best(); ++isa) {
    for (int n = 1; n <= 16; ++n) {
      const std::vector<T> from(n, T(7));  // of exactly n elements, so that the address sanitizer sees a step too far
      T to[17];
      std::fill(to, to + 17, T(1));
      int lanes = 0;
      entries<copy_tail<T>, const T*, T*, int*, int>[isa](from.data(), to, &lanes, n);
      if (n > lanes) continue;
      for (int i = 0; i < 17; ++i) CHECK(to[i] == T(i < n ? 7 : 1));
    }
  }
}

TEST_CASE("a tail is read and written to its last element and no further", "[simd]") {
  check_tails<float>();
  check_tails<double>();
  check_tails<std::int32_t>();
  check_tails<std::int64_t>();
  check_tails<std::uint8_t>();
}

struct check_masks {
  template <class Isa, class T>
  static PINION_INLINE void check(T, bool* out) {
    using M = mask<T, Isa>;
    bool in[17] = {true, false, false, true, true, true, false, false, true, false, true};
    M::load(in).store(out);
    (M::load(in) && !M::load(in)).store(out + 16);
    (M::load(in) || !M::load(in)).store(out + 32);
    out[48] = any(M::load(in)), out[49] = any(M(false));
  }
  template <class Isa, class T>
  static PINION_INLINE void run(T zero, bool* out, int* lanes) {
    *lanes = mask<T, Isa>::lanes;
    check<Isa>(zero, out);
  }
};

template <class T>
void check_mask_bytes() {
  const bool in[17] = {true, false, false, true, true, true, false, false, true, false, true};
  for (int isa = 0; isa <= isa::best(); ++isa) {
    bool out[64] = {};
    int lanes = 0;
    entries<check_masks, T, bool*, int*>[isa](T(0), out, &lanes);
    for (int i = 0; i < lanes; ++i) {
      CHECK(out[i] == in[i]);
      CHECK(!out[16 + i]);
      CHECK(out[32 + i]);
    }
    CHECK((out[48] && !out[49]));
  }
}

TEST_CASE("a mask is a byte of 0 or 1 for each lane", "[simd]") {
  check_mask_bytes<float>();
  check_mask_bytes<double>();
  check_mask_bytes<std::int32_t>();
  check_mask_bytes<std::int64_t>();
  check_mask_bytes<std::uint8_t>();
}

// ---- conversions and reductions

template <class U>
struct convert_lanes {
  template <class Isa, class T>
  static PINION_INLINE void run(const T* x, U* y, U* positive, int* lanes) {
    using V = simd<T, Isa>;
    *lanes = V::lanes;
    convert<U>(V::load(x)).store(y);
    convert<U>(V::load(x) > 0).store(positive);
  }
};

template <class T, class U>
void check_conversion() {
  T x[16];
  for (int i = 0; i < 16; ++i) x[i] = static_cast<T>(std::is_signed_v<T> ? 11 * i - 80 : 11 * i);
  if (std::is_floating_point_v<T>) x[0] = T(2.75), x[1] = T(0.9);
  if (std::is_floating_point_v<T> && std::is_signed_v<U>) x[1] = T(-2.75);
  for (int isa = 0; isa <= isa::best(); ++isa) {
    U y[16], positive[16];
    int lanes = 0;
    entries<convert_lanes<U>, const T*, U*, U*, int*>[isa](x, y, positive, &lanes);
    for (int i = 0; i < lanes; ++i) {
      const bool defined = std::is_integral_v<T> || std::is_signed_v<U> || x[i] >= 0;
      if (defined) CHECK(y[i] == static_cast<U>(x[i]));
      CHECK(positive[i] == U(x[i] > 0));
    }
  }
}

template <class T>
void check_conversions_of() {
  check_conversion<T, float>();
  check_conversion<T, double>();
  check_conversion<T, std::int32_t>();
  check_conversion<T, std::int64_t>();
  check_conversion<T, std::uint8_t>();
}

TEST_CASE("a conversion keeps the lanes and converts each as C does", "[simd]") {
  check_conversions_of<float>();
  check_conversions_of<double>();
  check_conversions_of<std::int32_t>();
  check_conversions_of<std::int64_t>();
  check_conversions_of<std::uint8_t>();
}

struct add_lanes {
  template <class Isa>
  static PINION_INLINE void run(const float* x, float* out, int* lanes) {
    const auto v = simd<float, Isa>::load(x);
    *lanes = v.lanes;
    out[0] = horizontal_sum(v), out[1] = horizontal_sum(join(upper_half(v), lower_half(v)));
  }
};

TEST_CASE("lanes are added half upon half", "[simd]") {
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = std::ldexp(1.0f + float(i), 2 * (i % 7));
  for (int isa = 0; isa <= isa::best(); ++isa) {
    float out[2], y[16];
    int lanes = 0;
    entries<add_lanes, const float*, float*, int*>[isa](x, out, &lanes);
    std::copy(x, x + 16, y);
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) y[i] += y[i + half];
    }
    CHECK(out[0] == y[0]);
    CHECK(out[1] == out[0]);
  }
}

}  // namespace

TEST_CASE("a table that another unit has compiled for fewer instruction sets says so where an entry is missing") {
  const entry_table<int> table{{nullptr}};
  CHECK(refusal([&] { table[0](1); }, pinion::errc::failed_precondition,
                "a unit of this program was compiled for other instruction sets than the rest", "baseline") == "");
}

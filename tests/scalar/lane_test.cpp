// A number of a card computes what a lane of a vector computes: each instruction, for each type of numbers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <pinion/scalar/compute.hpp>
#include <pinion/scalar/lane.hpp>
#include <pinion/scalar/maths.hpp>

namespace {

using namespace pinion;
using scalar::opcode;

// Numbers at which functions differ: zeros, ends of the range, and what no number is.
template <class T>
std::vector<T> edges() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all{T(0), T(1), T(2), T(3), T(100), limits::max(), limits::lowest()};
  if constexpr (std::is_signed_v<T>) all.insert(all.end(), {T(-1), T(-2), T(-100)});
  if constexpr (std::is_floating_point_v<T>)
    all.insert(all.end(), {T(-0.), T(.5), T(1.5), T(-2.5), limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                           limits::min(), limits::denorm_min()});
  return all;
}

// Real functions are those of two libraries. CUDA's are measured on a card.
template <opcode Op, class T>
bool agree(T card, T vector) {
  if (std::memcmp(&card, &vector, sizeof(T)) == 0 || (card != card && vector != vector)) return true;
  using limits = std::numeric_limits<T>;
  const T ulp = std::max<T>(std::abs(vector) * limits::epsilon(), limits::denorm_min());
  return scalar::is_real_function(Op) && std::abs(card - vector) <= 4 * ulp;
}

template <opcode Op, class T>
void check(T a, T b) {
  using V = scalar::simd<T, scalar::isa::baseline>;
  using L = cuda::lane<T>;
  const T card = scalar::detail::compute_in_numbers<Op>(L(a), L(b), L(T(3))).x;
  const T vector = scalar::detail::compute_in_numbers<Op>(V(a), V(b), V(T(3)))[0];
  INFO(+a << ", " << +b << ": " << +card << " on a card, " << +vector << " in a vector");
  CHECK(agree<Op>(card, vector));
}

template <opcode Op, class T>
void check_all() {
  constexpr bool is_defined = std::is_floating_point_v<T> || !scalar::is_real_function(Op);
  if constexpr (is_defined && Op != opcode::rsqrt)
    for (const T a : edges<T>())
      for (const T b : edges<T>()) check<Op>(a, b);
}

template <class T>
void check_type() {
#define PINION_CHECK(op, name, operands, value) \
  SECTION(name) {                               \
    check_all<opcode::op, T>();                 \
  }
  PINION_COMPUTATIONS(PINION_CHECK)
#undef PINION_CHECK
}

template <class R, class T>
R put(T x) {
  R to{};
  cuda::lane<T>(x).put(to);
  return to;
}

}  // namespace

TEST_CASE("a number of a card computes what a lane of a vector computes, in float") {
  check_type<float>();
}
TEST_CASE("a number of a card computes what a lane of a vector computes, in double") {
  check_type<double>();
}
TEST_CASE("a number of a card computes what a lane of a vector computes, in int32") {
  check_type<std::int32_t>();
}
TEST_CASE("a number of a card computes what a lane of a vector computes, in int64") {
  check_type<std::int64_t>();
}
TEST_CASE("a number of a card computes what a lane of a vector computes, in uint8") {
  check_type<std::uint8_t>();
}

TEST_CASE("a number of a card is written as an element of another type as C converts it") {
  CHECK(put<bool>(.5f));
  CHECK(!put<bool>(0));
  CHECK(put<std::uint8_t>(-1.f) == 255);
  CHECK(put<std::uint8_t>(258) == 2);
  CHECK(put<std::int32_t>(-2.7) == -2);
  CHECK(put<float>(std::int64_t{3}) == 3);
}

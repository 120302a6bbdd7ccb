// The bits of integers, as a user writes them. The tables are TensorFlow's.
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <pinion/op/bits/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct bits_fixture : own_graph {
  template <class F>
  std::string text(const F& fetch) {
    return pn::to_string(pn::session().run(fetch));
  }
  pn::expr<int> x = pn::constant<int>({0b1100, -1, 0}), y = pn::constant<int>({0b1010, 5, -8});
  pn::expr<std::uint8_t> bytes = pn::constant<std::uint8_t>({0, 3, 255});
};

}  // namespace

TEST_CASE_METHOD(bits_fixture, "logic works on each bit") {
  CHECK(text(pn::bitwise_and(x, y)) == "[8, 5, 0]");
  CHECK(text(pn::bitwise_or(x, y)) == "[14, -1, -8]");
  CHECK(text(pn::bitwise_xor(x, y)) == "[6, -6, -8]");
  CHECK(text(pn::bitwise_not(x)) == "[-13, 0, -1]");
  CHECK(text(pn::bitwise_not(bytes)) == "[255, 252, 0]");
  CHECK(pn::bitwise_not(x).op() == "Invert");
}

TEST_CASE_METHOD(bits_fixture, "a shift moves bits by as many places as there are, and one less at most") {
  const auto one = pn::constant<int>({1, -8, 5});
  CHECK(text(pn::left_shift(one, 3)) == "[8, -64, 40]");
  CHECK(text(pn::right_shift(one, 1)) == "[0, -4, 2]");
  CHECK(text(pn::left_shift(one, pn::constant<int>({-1, 0, 29}))) == "[1, -8, -1610612736]");
  CHECK(text(pn::left_shift(one, 100)) == "[-2147483648, 0, -2147483648]");
  CHECK(text(pn::right_shift(one, 32)) == "[0, -1, 0]");
  CHECK(text(pn::left_shift(bytes, 1)) == "[0, 6, 254]");
  CHECK(text(pn::right_shift(bytes, 7)) == "[0, 0, 1]");
  const auto least = pn::constant(std::numeric_limits<std::int64_t>::min());
  CHECK(text(pn::right_shift(least, 63)) == "-1");
}

TEST_CASE_METHOD(bits_fixture, "bits that are 1 are counted") {
  const auto count = pn::population_count(y);
  STATIC_REQUIRE(std::is_same_v<decltype(count)::value_type, std::uint8_t>);
  CHECK(text(count) == "[2, 2, 29]");
  CHECK(text(pn::population_count(bytes)) == "[0, 2, 8]");
  CHECK(text(pn::population_count(pn::constant(std::int64_t{-1}))) == "64");
}

TEST_CASE_METHOD(bits_fixture, "operators of C++ say the same, and operands broadcast") {
  CHECK(text(x & y) == "[8, 5, 0]");
  CHECK(text((x | y) ^ (x & y)) == "[6, -6, -8]");
  CHECK(text(~x) == "[-13, 0, -1]");
  CHECK(text(1 << pn::constant<int>({0, 3})) == "[1, 8]");
  CHECK(text((y >> 1) & 0xff) == "[5, 2, 252]");
  CHECK(text((x & 1) == 0) == "[true, false, true]");
  CHECK(text(pn::expand_dims(x, 1) & pn::constant<int>({4, 8})) == "[[4, 8], [4, 8], [0, 0]]");
  CHECK(refusal(
            [&] {
              (void)(x & pn::constant<int>({1, 2}));
            },
            pn::errc::invalid_argument, "[3] and [2]", "do not broadcast") == "");
}

TEST_CASE_METHOD(bits_fixture, "shapes that do not broadcast in the run fail the step") {
  auto a = pn::placeholder<int>({pn::unknown}, "a"), b = pn::placeholder<int>({pn::unknown}, "b");
  pn::session sess;
  const auto c = a ^ b;
  CHECK(pn::to_string(sess.run({{a, {1, 2, 3}}, {b, {1}}}, c)) == "[0, 3, 2]");
  CHECK(refusal(
            [&] {
              sess.run({{a, {1, 2, 3}}, {b, {1, 2}}}, c);
            },
            pn::errc::invalid_argument, "do not broadcast") == "");
}

TEST_CASE_METHOD(bits_fixture, "many elements are shared by threads, row by row") {
  const auto many = pn::range(300000);
  const auto rows = pn::reshape(many, {3, 100000});
  CHECK(text(pn::reduce_sum(pn::cast<std::int64_t>(many & 1))) == "150000");
  CHECK(text(pn::reduce_all(((rows ^ pn::slice_at(rows, 1)) ^ pn::slice_at(rows, 1)) == rows)) == "true");
}

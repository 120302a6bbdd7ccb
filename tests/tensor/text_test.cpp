// Tensors as text.
#include <pinion/tensor/text.hpp>

#include <catch2/catch.hpp>

#include <fmt/format.h>

namespace {

using namespace pinion;

TEST_CASE("tensors print as nested lists") {
  CHECK(to_string(tensor<int>(7)) == "7");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(to_string(tensor<float>::of({nan, -nan, -0.f})) == "[nan, nan, -0]");
  CHECK(to_string(tensor<float>::of({1, 2.5f})) == "[1, 2.5]");
  CHECK(to_string(tensor<int>::of({{1, 2}, {3, 4}})) == "[[1, 2], [3, 4]]");
  CHECK(to_string(tensor<bool>::of({true, false})) == "[true, false]");
  CHECK(to_string(tensor<std::string>::of({"a", "b c"})) == R"(["a", "b c"])");
  CHECK(to_string(tensor<std::uint8_t>::of({65})) == "[65]");
}

TEST_CASE("a tensor without elements or without a value prints as what it is") {
  CHECK(to_string(tensor<int>(shape{0})) == "[]");
  CHECK(to_string(tensor<int>({2, 0})) == "[[], []]");
  CHECK(to_string(any_tensor()) == "<empty>");
}

TEST_CASE("long axes are shortened at any depth, and what follows is still right") {
  tensor<int> line(shape{13}), block({2, 13});
  for (int i = 0; i < 13; ++i) line(i) = i;
  for (int i = 0; i < 26; ++i) block(i / 13, i % 13) = i;
  CHECK(to_string(line) == "[0, 1, 2, ..., 10, 11, 12]");
  CHECK(to_string(block) == "[[0, 1, 2, ..., 10, 11, 12], [13, 14, 15, ..., 23, 24, 25]]");
  tensor<int> rows({13, 1});
  for (int i = 0; i < 13; ++i) rows(i, 0) = i;
  CHECK(to_string(rows) == "[[0], [1], [2], ..., [10], [11], [12]]");
}

TEST_CASE("twelve elements are printed whole") {
  CHECK(to_string(tensor<int>(shape{12})) == "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]");
}

TEST_CASE("fmt prints tensors") {
  CHECK(fmt::format("t = {:>8}", tensor<int>::of({1, 2})) == "t =   [1, 2]");
}

}  // namespace

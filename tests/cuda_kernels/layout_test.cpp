// Elements that a GPU moves along axes with steps.
#include "device_array.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <pinion/op/layout/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::strided_axis;
using axes = std::vector<strided_axis>;
using numbers = std::vector<std::int64_t>;

// Calls f(offset in the source, offset in the result) for each element.
template <class F>
void for_each_element(const axes& a, F f, std::size_t axis = 0, std::int64_t from = 0, std::int64_t to = 0) {
  if (axis == a.size()) return f(from, to);
  for (std::int64_t i = 0; i < a[axis].extent; ++i)
    for_each_element(a, f, axis + 1, from + i * a[axis].from, to + i * a[axis].to);
}

std::int64_t size_of(const axes& a, std::int64_t strided_axis::*step) {
  std::int64_t size = 1;
  for (const strided_axis& x : a)
    if (x.extent == 0) return 0;
  for (const strided_axis& x : a) size += (x.extent - 1) * x.*step;
  return size;
}

// Elements that no axis reaches keep their values.
template <class Word>
bool copies(const axes& a, int behind = 0) {
  const kernels::stream stream;
  const auto x = some_elements<Word>(size_of(a, &strided_axis::from));
  auto y = some_elements<Word>(size_of(a, &strided_axis::to), 5);
  const device_array<Word> from(stream, x, behind), to(stream, y, behind);
  pinion::cuda::copy_strided(stream, from.data(), to.data(), sizeof(Word), a.data(), static_cast<int>(a.size()));
  for_each_element(
      a, [&](std::int64_t i, std::int64_t j) { y[static_cast<std::size_t>(j)] = x[static_cast<std::size_t>(i)]; });
  return to.read() == y;
}

numbers steps_of(const numbers& extents) {
  numbers steps(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) steps[i - 1] = steps[i] * extents[i];
  return steps;
}

axes transposition(const numbers& extents, const numbers& perm) {
  numbers there;
  for (const std::int64_t p : perm) there.push_back(extents[static_cast<std::size_t>(p)]);
  const numbers from = steps_of(extents), to = steps_of(there);
  axes a;
  for (std::size_t i = 0; i < perm.size(); ++i) a.push_back({there[i], from[static_cast<std::size_t>(perm[i])], to[i]});
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("matrices are transposed", "", std::uint8_t, std::uint32_t, std::uint64_t) {
  for (const std::int64_t rows : {0, 1, 2, 7, 8, 31, 32, 33, 65, 131})
    for (const std::int64_t columns : {1, 3, 8, 32, 61, 64, 200}) {
      INFO(rows << " x " << columns);
      CHECK(copies<TestType>(transposition({rows, columns}, {1, 0})));
    }
}

TEMPLATE_TEST_CASE("axes are permuted in every order", "", std::uint8_t, std::uint32_t, std::uint64_t) {
  for (const numbers& extents : {numbers{3, 20, 9, 4}, numbers{17, 1, 11, 8}, numbers{2, 3, 40, 16}}) {
    numbers perm{0, 1, 2, 3};
    do {
      INFO("axes " << perm[0] << perm[1] << perm[2] << perm[3] << " of " << extents[0] << " ...");
      CHECK(copies<TestType>(transposition(extents, perm)));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
  CHECK(copies<TestType>(transposition({2, 3, 2, 2, 3, 2, 2, 2}, {7, 2, 5, 0, 3, 6, 1, 4})));
}

TEMPLATE_TEST_CASE("boxes are copied into larger tensors, at any alignment", "", std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t) {
  for (const int behind : {0, 1, 4}) {
    INFO(behind << " elements behind an aligned address");
    CHECK(copies<TestType>({}, behind));
    CHECK(copies<TestType>({{1, 1, 1}}, behind));
    CHECK(copies<TestType>({{5003, 1, 1}}, behind));
    CHECK(copies<TestType>({{4096, 1, 1}}, behind));
    CHECK(copies<TestType>({{37, 100, 48}, {48, 1, 1}}, behind));
    CHECK(copies<TestType>({{5, 700, 350}, {7, 50, 50}, {33, 1, 1}}, behind));
    CHECK(copies<TestType>({{70, 3, 2}, {1, 1, 1}}, behind));
    CHECK(copies<TestType>({{3, 160, 64}, {1, 32, 32}, {16, 1, 1}}, behind));
  }
}

TEST_CASE("an axis whose step in the source is 0 repeats elements") {
  CHECK(copies<std::uint32_t>({{3, 0, 1}}));
  CHECK(copies<std::uint32_t>({{3, 0, 200}, {5, 8, 40}, {5, 0, 8}, {8, 1, 1}}));
  CHECK(copies<std::uint8_t>({{2, 0, 99}, {11, 9, 9}, {9, 1, 1}}));
}

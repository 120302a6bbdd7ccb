// Rows by index on a GPU: chosen, added up, and one-hot.
#include "device_array.hpp"

#include <algorithm>
#include <numeric>

#include <pinion/device/cuda/sorting.hpp>
#include <pinion/op/gather/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::chosen_rows, pinion::cuda::first_wrong;

template <class Index>
std::vector<Index> some_indices(std::int64_t n, std::int64_t rows) {
  std::vector<Index> indices;
  for (std::int64_t i = 0; i < n; ++i) indices.push_back(static_cast<Index>((i * 7919 + i * i * 31) % rows));
  return indices;
}

std::size_t at(const chosen_rows& of, std::int64_t rows, std::int64_t outer, std::int64_t row, std::int64_t k) {
  return static_cast<std::size_t>((outer * rows + row) * of.inner + k);
}

template <class F>
void for_each_chosen(const chosen_rows& of, F f) {
  for (std::int64_t o = 0; o < of.outer; ++o)
    for (std::int64_t i = 0; i < of.n; ++i)
      for (std::int64_t k = 0; k < of.inner; ++k) f(o, i, k);
}

template <class Word, class Index>
std::pair<std::vector<Word>, first_wrong> gather_on_device(const std::vector<Word>& x,
                                                           const std::vector<Index>& indices, const chosen_rows& of) {
  const kernels::stream stream;
  const device_array<Word> from(stream, x), to(stream, of.outer * of.n * of.inner);
  const device_array<Index> chosen(stream, indices);
  const device_array<first_wrong> wrong(stream, {{~0ull, 0}});
  pinion::cuda::gather_rows(stream, from.data(), chosen.data(), to.data(), sizeof(Word), of, wrong.data());
  return {to.read(), wrong.read()[0]};
}

template <class Word, class Index>
bool gathers(const chosen_rows& of) {
  const auto x = some_elements<Word>(of.outer * of.rows * of.inner);
  const auto indices = some_indices<Index>(of.n, of.rows);
  std::vector<Word> expected(static_cast<std::size_t>(of.outer * of.n * of.inner));
  for_each_chosen(of, [&](std::int64_t o, std::int64_t i, std::int64_t k) {
    const auto row = static_cast<std::int64_t>(indices[static_cast<std::size_t>(i)]);
    expected[at(of, of.n, o, i, k)] = x[at(of, of.rows, o, row, k)];
  });
  const auto [y, wrong] = gather_on_device(x, indices, of);
  return y == expected && wrong.position == ~0ull;
}

// Fractions that round, so that another order of a sum shows.
template <class T>
std::vector<T> thirds(std::int64_t n) {
  auto x = some_elements<T>(n);
  for (T& e : x) e = std::is_floating_point_v<T> ? e / T(3) : e;
  return x;
}

template <class T>
std::vector<T> sum_on_device(const chosen_rows& of, const std::vector<std::int32_t>& indices,
                             const std::vector<T>& values) {
  const kernels::stream stream;
  const device_array<T> from(stream, values), to(stream, of.outer * of.rows * of.inner),
      heads(stream, pinion::cuda::add_rows_scratch(of));
  const device_array<std::int32_t> given(stream, indices);
  const device_array<std::uint32_t> rows(stream, of.n), positions(stream, of.n);
  const device_array<char> scratch(stream,
                                   static_cast<std::int64_t>(pinion::cuda::sort_positions_scratch(of.n, of.rows)));
  pinion::cuda::sort_positions(stream, given.data(), of.n, of.rows, rows.data(), positions.data(), scratch.data(),
                               nullptr);
  pinion::cuda::add_rows(stream, from.data(), rows.data(), positions.data(), to.data(), heads.data(), of);
  return to.read();
}

// Few rows are added in their order. Sums of more are exact here, in any order.
template <class T>
bool adds(const chosen_rows& of) {
  constexpr std::int64_t few = 64;
  const std::int64_t size = of.outer * of.n * of.inner;
  const auto values = of.n > few ? some_elements<T>(size) : thirds<T>(size);
  const auto indices = some_indices<std::int32_t>(of.n, of.rows);
  std::vector<T> expected(static_cast<std::size_t>(of.outer * of.rows * of.inner), T(0));
  for_each_chosen(of, [&](std::int64_t o, std::int64_t i, std::int64_t k) {
    expected[at(of, of.rows, o, indices[static_cast<std::size_t>(i)], k)] += values[at(of, of.n, o, i, k)];
  });
  return sum_on_device(of, indices, values) == expected;
}

const chosen_rows many_extents[] = {{1, 1, 1, 1},      {1, 5, 3, 0},   {0, 5, 3, 4},   {1, 10, 1, 1000},
                                    {1, 1000, 64, 77}, {7, 11, 5, 13}, {3, 2, 16, 99}, {1, 3, 130, 50},
                                    {1, 50000, 2, 9},  {2, 1, 4, 300}};

}  // namespace

TEMPLATE_TEST_CASE("rows are chosen by indices, along any axis", "", std::uint8_t, float, double) {
  for (const chosen_rows& of : many_extents) {
    INFO(of.n << " of [" << of.outer << ", " << of.rows << ", " << of.inner << "]");
    CHECK(gathers<TestType, std::int32_t>(of));
    CHECK(gathers<TestType, std::int64_t>(of));
  }
}

TEST_CASE("an index outside is noted with its value, and its row becomes 0") {
  const std::vector<std::int32_t> indices{1, 4, -1, 0};
  const auto [y, wrong] = gather_on_device<float, std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, indices, {1, 4, 2, 4});
  CHECK(wrong.position == 1);
  CHECK(wrong.value == 4);
  CHECK(y == std::vector<float>{3, 4, 0, 0, 0, 0, 1, 2});
}

TEST_CASE("indices of rows without elements are checked too") {
  const std::vector<std::int64_t> indices{0, 9};
  const auto wrong = gather_on_device<float, std::int64_t>({}, indices, {1, 3, 0, 2}).second;
  CHECK(wrong.position == 1);
  CHECK(wrong.value == 9);
}

TEMPLATE_TEST_CASE("rows of one index are added in their order, to the same bits as on the host", "", float, double,
                   std::int32_t, std::int64_t) {
  for (const chosen_rows& of : many_extents) {
    INFO(of.n << " into [" << of.outer << ", " << of.rows << ", " << of.inner << "]");
    CHECK(adds<TestType>(of));
  }
}

TEST_CASE("a row that many indices name is summed in pieces of the sorted indices, which are added in their order") {
  constexpr std::int64_t piece = 128;
  for (const std::int64_t inner : {3, 8}) {
    const chosen_rows of{1, 3, inner, 5000};
    std::vector<std::int32_t> indices;
    for (int i = 0; i < of.n; ++i) indices.push_back(i % 50 == 7 ? 0 : i % 90 == 1 ? 2 : 1);
    const auto values = thirds<float>(of.n * inner);
    std::vector<std::size_t> sorted(indices.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::stable_sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return indices[a] < indices[b]; });
    std::vector<float> expected(static_cast<std::size_t>(3 * inner));
    for (std::size_t k = 0; k < static_cast<std::size_t>(inner); ++k)
      for (std::size_t first = 0; first < sorted.size(); first += piece) {
        float of_piece[3]{};
        for (std::size_t i = first; i < std::min(first + piece, sorted.size()); ++i)
          of_piece[indices[sorted[i]]] += values[sorted[i] * static_cast<std::size_t>(inner) + k];
        for (std::size_t row = 0; row < 3; ++row) expected[row * static_cast<std::size_t>(inner) + k] += of_piece[row];
      }
    CHECK(sum_on_device(of, indices, values) == expected);
  }
}

TEMPLATE_TEST_CASE("one-hot rows have a 1 at the index, if there is such a place", "", std::uint8_t, std::int32_t,
                   std::int64_t) {
  const kernels::stream stream;
  const auto depth = GENERATE(std::int64_t{1}, 3, 300);
  std::vector<TestType> indices;
  for (int i = 0; i < 500; ++i)
    indices.push_back(static_cast<TestType>(i * 37 % 251 - (std::is_signed_v<TestType> ? 2 : 0)));
  const device_array<TestType> given(stream, indices);
  const device_array<double> y(stream, 500 * depth);
  const double one = 1;
  pinion::cuda::one_hot(stream, given.data(), y.data(), sizeof one, 500, depth, &one);
  std::vector<double> expected(static_cast<std::size_t>(500 * depth), 0.);
  for (std::int64_t i = 0; i < 500; ++i) {
    const auto index = static_cast<std::int64_t>(indices[static_cast<std::size_t>(i)]);
    if (index >= 0 && index < depth) expected[static_cast<std::size_t>(i * depth + index)] = 1;
  }
  CHECK(y.read() == expected);
}

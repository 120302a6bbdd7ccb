// The stable sort of indices on a GPU.
#include "device_array.hpp"

#include <algorithm>
#include <numeric>

#include <pinion/device/cuda/sorting.hpp>

namespace {

using kernels::device_array;
using pinion::cuda::first_wrong;
using words = std::vector<std::uint32_t>;

struct sorted {
  words rows, positions;
  first_wrong wrong;
};

template <class T>
sorted sort_on_device(const std::vector<T>& indices, std::int64_t rows) {
  const kernels::stream stream;
  const auto n = static_cast<std::int64_t>(indices.size());
  const device_array<T> given(stream, indices);
  const device_array<std::uint32_t> keys(stream, n), positions(stream, n);
  const device_array<first_wrong> wrong(stream, {{~0ull, 0}});
  const device_array<char> scratch(stream, static_cast<std::int64_t>(pinion::cuda::sort_positions_scratch(n, rows)));
  pinion::cuda::sort_positions(stream, given.data(), n, rows, keys.data(), positions.data(), scratch.data(),
                               wrong.data());
  return {keys.read(), positions.read(), wrong.read()[0]};
}

template <class T>
std::vector<T> unsorted_indices(std::int64_t n, std::int64_t rows) {
  std::vector<T> indices;
  for (std::int64_t i = 0; i < n; ++i) indices.push_back(static_cast<T>((i * 7919 + i * i * 31) % rows));
  return indices;
}

}  // namespace

TEMPLATE_TEST_CASE("indices are sorted, and equal ones keep their order", "", std::int32_t, std::int64_t) {
  for (const std::int64_t n : {0, 1, 2, 255, 257, 1000, 20011})
    for (const std::int64_t rows : {1, 3, 256, 100003}) {
      INFO(n << " indices of " << rows << " rows");
      const auto indices = unsorted_indices<TestType>(n, rows);
      words order(indices.size());
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return indices[a] < indices[b]; });
      words rows_sorted;
      for (const std::uint32_t at : order) rows_sorted.push_back(static_cast<std::uint32_t>(indices[at]));
      const sorted s = sort_on_device(indices, rows);
      CHECK(s.positions == order);
      CHECK(s.rows == rows_sorted);
      CHECK(s.wrong.position == ~0ull);
    }
}

TEMPLATE_TEST_CASE("the first index outside is noted, and all outside stand behind the others", "", std::int32_t,
                   std::int64_t) {
  auto indices = unsorted_indices<TestType>(1000, 50);
  indices[700] = 50;
  indices[300] = -7;
  const sorted s = sort_on_device(indices, 50);
  CHECK(s.wrong.position == 300);
  CHECK(s.wrong.value == -7);
  CHECK(words(s.rows.end() - 2, s.rows.end()) == words{50, 50});
  CHECK(words(s.positions.end() - 2, s.positions.end()) == words{300, 700});
  CHECK(s.rows[997] < 50);
}

TEST_CASE("more indices or rows than the sort can number are refused in a sentence") {
  CHECK_THROWS_WITH(pinion::cuda::sort_positions_scratch(std::int64_t{1} << 31, 5),
                    Catch::Contains("2147483648 indices of 5 rows are not sorted on a GPU"));
  CHECK_THROWS_WITH(pinion::cuda::sort_positions_scratch(5, std::int64_t{1} << 32),
                    Catch::Contains("5 indices of 4294967296 rows are not sorted on a GPU"));
}

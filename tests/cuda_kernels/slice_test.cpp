// Boxes inside larger tensors, and sums of tiles, on a GPU.
#include "device_array.hpp"

#include <memory>

#include <pinion/op/slice/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::padded_axis, pinion::cuda::tiled_axis;

template <class Axis, class F>
std::int64_t product_over(const std::vector<Axis>& axes, F f) {
  std::int64_t n = 1;
  for (const Axis& a : axes) n *= f(a);
  return n;
}

template <class Word>
std::vector<Word> padded(const std::vector<Word>& x, const std::vector<padded_axis>& axes, Word around) {
  std::vector<Word> y(static_cast<std::size_t>(product_over(axes, [](auto& a) { return a.whole; })), around);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0, step = 1;
    for (std::size_t k = axes.size(); k-- > 0; step *= axes[k].whole) {
      at += (rest % axes[k].inside + axes[k].before) * step;
      rest /= axes[k].inside;
    }
    y[static_cast<std::size_t>(at)] = x[i];
  }
  return y;
}

template <class Word>
bool pads(const std::vector<padded_axis>& axes, int behind = 0) {
  const kernels::stream stream;
  const auto x = some_elements<Word>(product_over(axes, [](auto& a) { return a.inside; }));
  const Word around = static_cast<Word>(77);
  const auto expected = padded(x, axes, around);
  const device_array<Word> from(stream, x, behind), to(stream, static_cast<std::int64_t>(expected.size()), behind);
  pinion::cuda::pad(stream, from.data(), to.data(), sizeof(Word), axes.data(), static_cast<int>(axes.size()), &around);
  return to.read() == expected;
}

template <class T>
std::vector<T> summed(const std::vector<T>& tiles, const std::vector<tiled_axis>& axes) {
  std::vector<T> y(static_cast<std::size_t>(product_over(axes, [](auto& a) { return a.extent; })), T(0));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0, step = 1;
    for (std::size_t k = axes.size(); k-- > 0; step *= axes[k].extent) {
      at += rest % axes[k].extent * step;
      rest /= axes[k].extent * axes[k].multiple;
    }
    y[static_cast<std::size_t>(at)] += tiles[i];
  }
  return y;
}

// The elements are so small that every sum is exact.
template <class T>
bool sums(const std::vector<tiled_axis>& axes) {
  const kernels::stream stream;
  const int rank = static_cast<int>(axes.size());
  const auto tiles = some_elements<T>(product_over(axes, [](auto& a) { return a.extent * a.multiple; }));
  const auto expected = summed(tiles, axes);
  const device_array<T> from(stream, tiles), to(stream, static_cast<std::int64_t>(expected.size()));
  const device_array<char> scratch(
      stream, static_cast<std::int64_t>(pinion::cuda::sum_tiles_scratch(axes.data(), rank, sizeof(T))));
  pinion::cuda::sum_tiles(stream, from.data(), to.data(), axes.data(), rank, reinterpret_cast<void*>(scratch.data()));
  return to.read() == expected;
}

}  // namespace

TEMPLATE_TEST_CASE("a tensor lies in a larger one, with one value around it", "", std::uint8_t, float, double) {
  for (const int behind : {0, 1}) {
    INFO(behind << " elements behind an aligned address");
    CHECK(pads<TestType>({}, behind));
    CHECK(pads<TestType>({{0, 0, 0}}, behind));
    CHECK(pads<TestType>({{9, 0, 4}}, behind));
    CHECK(pads<TestType>({{1000, 991, 5}}, behind));
    CHECK(pads<TestType>({{4096, 4064, 16}}, behind));
    CHECK(pads<TestType>({{12, 8, 3}, {33, 33, 0}}, behind));
    CHECK(pads<TestType>({{3, 3, 0}, {34, 32, 1}, {18, 16, 1}, {64, 64, 0}}, behind));
    CHECK(pads<TestType>({{3, 2, 1}, {1, 1, 0}, {4, 2, 2}, {3, 1, 0}, {2, 2, 0}, {3, 2, 1}, {2, 1, 1}, {5, 3, 1}},
                         behind));
  }
}

TEMPLATE_TEST_CASE("tiles are added up", "", float, double) {
  CHECK(sums<TestType>({}));
  CHECK(sums<TestType>({{0, 3}}));
  CHECK(sums<TestType>({{5, 0}}));
  CHECK(sums<TestType>({{1, 5000}}));
  CHECK(sums<TestType>({{1, 1}, {7, 1}}));
  CHECK(sums<TestType>({{3, 70}, {11, 3}}));
  CHECK(sums<TestType>({{300, 3}, {200, 2}}));
  CHECK(sums<TestType>({{2, 2}, {3, 1}, {2, 3}, {1, 4}, {2, 1}, {1, 1}, {3, 2}, {2, 5}}));
}

TEMPLATE_TEST_CASE("a tensor is cut into parts, and made of them again, many by one kernel", "", std::uint8_t, float,
                   double) {
  using pinion::cuda::parts_way, pinion::cuda::tensor_part;
  const kernels::stream stream;
  std::vector<std::int64_t> many(70, 3);
  for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{16, 32}, {1, 0, 5, 2}, {7}, {0}, many})
    for (const std::int64_t outer : {0, 1, 9}) {
      std::int64_t columns = 0;
      for (const std::int64_t n : lengths) columns += n;
      const auto x = some_elements<TestType>(outer * columns);
      const device_array<TestType> whole(stream, x), again(stream, outer * columns);
      std::vector<std::unique_ptr<device_array<TestType>>> arrays;
      std::vector<tensor_part> parts;
      std::int64_t begin = 0;
      for (const std::int64_t n : lengths) {
        arrays.push_back(std::make_unique<device_array<TestType>>(stream, outer * n));
        parts.push_back({arrays.back()->data(), begin, n});
        begin += n;
      }
      pinion::cuda::copy_parts(stream, parts_way::cut, whole.data(), sizeof(TestType), {outer, columns}, parts.data(),
                               parts.size());
      for (std::size_t k = 0; k < parts.size(); ++k) {
        std::vector<TestType> expected;
        for (std::int64_t row = 0; row < outer; ++row)
          for (std::int64_t i = 0; i < lengths[k]; ++i)
            expected.push_back(x[static_cast<std::size_t>(row * columns + parts[k].begin + i)]);
        CHECK(arrays[k]->read() == expected);
      }
      pinion::cuda::copy_parts(stream, parts_way::join, again.data(), sizeof(TestType), {outer, columns}, parts.data(),
                               parts.size());
      CHECK(again.read() == x);
    }
}

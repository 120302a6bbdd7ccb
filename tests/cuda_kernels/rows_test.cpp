// The rows of a variable that a sparse gradient names, on a GPU.
#include "device_array.hpp"

#include <pinion/device/cuda/sorting.hpp>
#include <pinion/op/variable/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::first_wrong, pinion::cuda::named_rows;

struct case_of_rows {
  std::vector<std::int32_t> indices;
  std::int64_t extent, size;
};

// Columns of packs and of parts of packs; rows that several positions name, and many of them.
std::vector<case_of_rows> cases() {
  std::vector<std::int32_t> many(5000, 0);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(i * 7919 % 300);
  std::vector<std::int32_t> often(700, 1);
  often[5] = often[600] = 0;
  often[300] = 2;
  return {{{}, 4, 3},          {{2}, 3, 1},          {{4, 0, 4, 4, 1, 0}, 5, 8},
          {{1, 1, 1}, 2, 130}, {{3, 2, 1, 0}, 4, 7}, {many, 300, 12},
          {often, 3, 5},       {often, 3, 8}};
}

// The sorted indices of a sparse gradient on the device, with the place for a wrong one.
struct sorted_rows {
  device_array<std::int32_t> indices;
  device_array<std::uint32_t> rows, positions;
  device_array<unsigned char> scratch;
  device_array<first_wrong> wrong;
  named_rows named;

  sorted_rows(const kernels::stream& stream, const case_of_rows& of)
      : indices(stream, of.indices),
        rows(stream, n(of)),
        positions(stream, n(of)),
        scratch(stream, static_cast<std::int64_t>(pinion::cuda::sort_positions_scratch(n(of), of.extent))),
        wrong(stream, std::vector<first_wrong>{{~0ull, 0}}),
        named{rows.data(), positions.data(), n(of), of.extent, of.size} {
    pinion::cuda::sort_positions(stream, indices.data(), n(of), of.extent, rows.data(), positions.data(),
                                 scratch.data(), wrong.data());
  }
  static std::int64_t n(const case_of_rows& of) { return static_cast<std::int64_t>(of.indices.size()); }
};

// What is left of a variable if each row becomes its negative plus its gradient.
template <class T>
std::vector<T> updated(const case_of_rows& of, const std::vector<T>& variable, const std::vector<T>& gradients) {
  std::vector<T> after = variable;
  const auto size = static_cast<std::size_t>(of.size);
  std::vector<bool> named(static_cast<std::size_t>(of.extent));
  for (std::size_t i = 0; i < of.indices.size(); ++i) {
    const auto row = static_cast<std::size_t>(of.indices[i]);
    for (std::size_t k = 0; k < size; ++k) {
      T& element = after[row * size + k];
      element = (named[row] ? element : -element) + gradients[i * size + k];
    }
    named[row] = true;
  }
  return after;
}

}  // namespace

TEMPLATE_TEST_CASE("rows are taken out, changed by the sums of their gradients, and put back", "", float, double) {
  const kernels::stream stream;
  for (const case_of_rows& of : cases())
    for (const int behind : {0, 1}) {
      INFO(of.indices.size() << " of " << of.extent << " rows of " << of.size);
      const std::int64_t n = sorted_rows::n(of);
      const auto before = some_elements<TestType>(of.extent * of.size), given = some_elements<TestType>(n * of.size, 2);
      const sorted_rows sorted(stream, of);
      const device_array<TestType> variable(stream, before, behind), gradients(stream, given, behind),
          compact(stream, n * of.size), sums(stream, n * of.size),
          heads(stream, pinion::cuda::sum_gradients_scratch(sorted.named));
      pinion::cuda::sum_gradients<TestType>(stream, gradients.data(), sums.data(), heads.data(), sorted.named);
      pinion::cuda::take_rows<TestType>(stream, variable.data(), compact.data(), sorted.named);
      std::vector<TestType> changed = compact.read();
      const std::vector<TestType> added = sums.read();
      for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = added[i] - changed[i];
      const device_array<TestType> after(stream, changed);
      pinion::cuda::put_rows<TestType>(stream, after.data(), variable.data(), sorted.named, {sorted.wrong.data(), 1});
      CHECK(variable.read() == updated(of, before, given));
    }
}

TEST_CASE("a wrong index leaves the variable as it was") {
  const kernels::stream stream;
  const case_of_rows of{{1, 9, 2}, 4, 2};
  const auto before = some_elements<float>(8);
  const sorted_rows sorted(stream, of);
  const device_array<float> variable(stream, before), compact(stream, some_elements<float>(6, 5));
  pinion::cuda::put_rows<float>(stream, compact.data(), variable.data(), sorted.named, {sorted.wrong.data(), 1});
  CHECK(variable.read() == before);
  CHECK(sorted.wrong.read()[0].position == 1);
}

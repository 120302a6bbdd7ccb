// Means of integers, and the gradients of reductions, on a GPU.
#include "device_array.hpp"

#include <limits>
#include <memory>
#include <utility>

#include <pinion/op/reduce/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::fold_walk, pinion::cuda::product_weights;

struct dimension {
  std::int64_t extent, stride;
};
fold_walk walk_of(const std::vector<dimension>& dimensions) {
  fold_walk walk;
  for (const dimension& d : dimensions) walk.push_back(d.extent, d.stride);
  return walk;
}

// The offsets of a walk, in order.
std::vector<std::size_t> offsets(const fold_walk& walk) {
  std::vector<std::size_t> all{0};
  for (int d = 0; d < walk.rank; ++d) {
    std::vector<std::size_t> finer;
    for (const std::size_t at : all)
      for (std::int64_t i = 0; i < walk.extent[d]; ++i)
        finer.push_back(at + static_cast<std::size_t>(i * walk.stride[d]));
    all = finer;
  }
  return all;
}

template <class T>
std::vector<T> means_on_device(const std::vector<T>& x, const fold_walk& kept, const fold_walk& folded) {
  const kernels::stream stream;
  const device_array<T> from(stream, x), to(stream, kept.count());
  pinion::cuda::mean_of_integers<T>(stream, from.data(), to.data(), kept, folded);
  return to.read();
}

template <class T>
std::vector<T> spread_on_device(const std::vector<T>& x, const fold_walk& walk, std::int64_t divisor) {
  const kernels::stream stream;
  const device_array<T> from(stream, x), to(stream, walk.count());
  pinion::cuda::spread<T>(stream, from.data(), to.data(), walk, divisor);
  return to.read();
}

std::vector<double> gradient_on_device(const std::vector<double>& dy, const std::vector<double>& x,
                                       const std::vector<std::vector<double>>& g, const fold_walk& kept,
                                       const fold_walk& folded) {
  const kernels::stream stream;
  const auto weights = static_cast<int>(g.size());
  std::vector<std::unique_ptr<device_array<double>>> arrays;
  product_weights<double> given{weights, {}};
  for (std::size_t i = 0; i < g.size(); ++i)
    given.at[i] = arrays.emplace_back(std::make_unique<device_array<double>>(stream, g[i]))->data();
  const auto room = pinion::cuda::product_gradient_scratch(weights, kept, folded);
  const device_array<double> slope(stream, dy), from(stream, x), scratch(stream, room),
      to(stream, static_cast<std::int64_t>(x.size()));
  pinion::cuda::product_gradient(stream, slope.data(), from.data(), given, to.data(), kept, folded, scratch.data());
  return to.read();
}

// The sum over all choices of a different element, other than those taken, for each weight from `weight` on.
double product_of_choices(const std::vector<std::size_t>& at, const std::vector<double>& x,
                          const std::vector<std::vector<double>>& g, std::size_t weight, std::vector<bool>& taken) {
  double sum = weight == g.size() ? 1 : 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (taken[i]) continue;
    if (weight == g.size()) {
      sum *= x[at[i]];
    } else {
      taken[i] = true;
      sum += g[weight][at[i]] * product_of_choices(at, x, g, weight + 1, taken);
      taken[i] = false;
    }
  }
  return sum;
}

}  // namespace

TEMPLATE_TEST_CASE("means of integers are exact, and round towards zero", "", std::int32_t, std::int64_t) {
  const auto x = some_elements<TestType>(60000);
  for (const auto& [kept, folded] :
       {std::pair{walk_of({{60, 1000}}), walk_of({{1000, 1}})}, std::pair{walk_of({}), walk_of({{60000, 1}})},
        std::pair{walk_of({{20, 60}, {3, 1}}), walk_of({{50, 1200}, {20, 3}})},
        std::pair{walk_of({{6000, 1}}), walk_of({{10, 6000}})}, std::pair{walk_of({{7, 1}}), walk_of({})}}) {
    std::vector<TestType> expected;
    for (const std::size_t at : offsets(kept)) {
      std::int64_t sum = 0;
      for (const std::size_t i : offsets(folded)) sum += x[at + i];
      expected.push_back(static_cast<TestType>(sum / folded.count()));
    }
    CHECK(means_on_device(x, kept, folded) == expected);
  }
}

TEST_CASE("means do not overflow, and that of nothing is 0") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  CHECK(means_on_device<std::int64_t>({most, most, most, most - 4}, walk_of({}), walk_of({{4, 1}})) ==
        std::vector{most - 1});
  CHECK(means_on_device<std::int64_t>({least, least}, walk_of({}), walk_of({{2, 1}})) == std::vector{least});
  CHECK(means_on_device<std::int64_t>({}, walk_of({{2, 0}}), walk_of({{0, 1}})) == std::vector<std::int64_t>{0, 0});
}

TEMPLATE_TEST_CASE("a gradient is spread over the elements that were folded", "", float, double, std::int32_t,
                   std::int64_t) {
  const auto x = some_elements<TestType>(4096);
  for (const fold_walk& walk : {walk_of({}), walk_of({{1000, 0}}), walk_of({{1024, 0}}), walk_of({{0, 0}}),
                                walk_of({{30, 1}, {16, 0}}), walk_of({{30, 1}, {17, 0}}), walk_of({{5, 0}, {64, 1}}),
                                walk_of({{5, 0}, {63, 1}}), walk_of({{3, 7}, {5, 0}, {7, 1}}),
                                walk_of({{3, 8}, {5, 0}, {8, 1}}), walk_of({{8, 8}, {2, 0}, {4, 2}, {3, 0}, {2, 1}})})
    for (const std::int64_t divisor : {1, 3}) {
      std::vector<TestType> expected;
      for (const std::size_t at : offsets(walk)) expected.push_back(static_cast<TestType>(x[at] / TestType(divisor)));
      CHECK(spread_on_device(x, walk, divisor) == expected);
    }
}

TEST_CASE("gradients of products are right where elements are 0, and with weights") {
  auto x = some_elements<double>(24);
  x[5] = x[6] = 0;
  const auto dy = some_elements<double>(24, 4);
  const std::vector<std::vector<double>> g{some_elements<double>(24, 5), some_elements<double>(24, 6),
                                           some_elements<double>(24, 7)};
  for (const auto& [kept, folded] :
       {std::pair{walk_of({{6, 4}}), walk_of({{4, 1}})}, std::pair{walk_of({{2, 12}, {3, 1}}), walk_of({{4, 3}})},
        std::pair{walk_of({{12, 1}}), walk_of({{2, 12}})}, std::pair{walk_of({{24, 1}}), walk_of({})}})
    for (std::size_t weights = 0; weights <= g.size(); ++weights) {
      const std::vector<std::vector<double>> some(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(weights));
      const std::vector<double> found = gradient_on_device(dy, x, some, kept, folded);
      const std::vector<std::size_t> from = offsets(kept), along = offsets(folded);
      for (std::size_t k = 0; k < from.size(); ++k) {
        std::vector<std::size_t> at = along;
        for (std::size_t& a : at) a += from[k];
        for (std::size_t i = 0; i < at.size(); ++i) {
          std::vector<bool> taken(at.size());
          taken[i] = true;
          CHECK(found[at[i]] == Approx(dy[k] * product_of_choices(at, x, some, 0, taken)).margin(1e-12));
        }
      }
    }
}

TEST_CASE("gradients of long products are right, with an element that is 0 and without") {
  auto x = some_elements<double>(1500);
  for (double& e : x) e = 1 + e / 64;
  x[77] = 0;
  const auto dy = some_elements<double>(3, 4);
  for (const auto& [kept, folded] :
       {std::pair{walk_of({}), walk_of({{1500, 1}})}, std::pair{walk_of({{2, 1}}), walk_of({{700, 2}})},
        std::pair{walk_of({{3, 500}}), walk_of({{500, 1}})}, std::pair{walk_of({}), walk_of({{2, 750}, {513, 1}})}}) {
    const std::vector<double> found = gradient_on_device(dy, x, {}, kept, folded);
    const std::vector<std::size_t> from = offsets(kept), along = offsets(folded);
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::size_t zero = 77;
      double others = dy[k];
      bool has_zero = false;
      for (const std::size_t a : along) a + from[k] == zero ? has_zero = true : others *= x[a + from[k]];
      for (const std::size_t a : along) {
        const std::size_t at = a + from[k];
        CHECK(found[at] == Approx(at == zero ? others : has_zero ? 0 : others / x[at]).epsilon(1e-9));
      }
    }
  }
}

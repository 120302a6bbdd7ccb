// Matrix products of the libraries, in several threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <pinion/op/matmul/gemm.hpp>

using namespace pinion;

namespace {

constexpr std::int64_t m = 50, n = 48, k = 784;

template <class T>
std::vector<T> filled(std::int64_t size, int period) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(static_cast<int>(i) % period) / static_cast<T>(period) - T(.4);
  return values;
}

// The number of products of some threads at once that are not that of one thread alone.
template <class T>
int unlike_alone() {
  const auto a = filled<T>(m * k, 97), b = filled<T>(k * n, 89);
  const auto product_of = [&] {
    std::vector<T> c(static_cast<std::size_t>(m * n));
    op::gemm(op::product<T>{a.data(), b.data(), c.data(), m, n, k, false, false});
    return c;
  };
  const auto alone = product_of();
  std::atomic<int> unlike{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) unlike += product_of() != alone;
    });
  for (auto& t : threads) t.join();
  return unlike;
}

}  // namespace

TEST_CASE("products in several threads at once have the bits of one thread's") {
  CHECK(unlike_alone<float>() == 0);
  CHECK(unlike_alone<double>() == 0);
}

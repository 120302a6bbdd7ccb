// Softmax and the cross entropies on a GPU.
#include "device_array.hpp"

#include <cmath>
#include <limits>

#include <pinion/op/nn/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::first_wrong;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows of logits, the sums of a row computed in double.
template <class T>
struct matrix {
  std::int64_t rows, n;
  std::vector<T> x = some_elements<T>(rows * n);

  std::size_t place(std::int64_t row, std::int64_t column) const { return static_cast<std::size_t>(row * n + column); }
  double at(std::int64_t row, std::int64_t column) const { return static_cast<double>(x[place(row, column)]); }
  double greatest(std::int64_t row) const {
    double most = -infinity;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, at(row, i));
    return most;
  }
  double sum(std::int64_t row) const {
    const double top = greatest(row);
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += std::exp(at(row, i) - top);
    return total;
  }
  // softmax, and its logarithm, of each element.
  std::vector<double> shares(bool logs) const {
    std::vector<double> all;
    for (std::int64_t r = 0; r < rows; ++r) {
      const double top = greatest(r), total = sum(r);
      for (std::int64_t i = 0; i < n; ++i)
        all.push_back(logs ? at(r, i) - top - std::log(total) : std::exp(at(r, i) - top) / total);
    }
    return all;
  }
};

template <class T>
bool is_near(const std::vector<T>& found, const std::vector<double>& expected, double scale = 1) {
  const double tolerance = scale * 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::abs(static_cast<double>(found[i]) - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))) &&
        !(std::isnan(found[i]) && std::isnan(expected[i])))
      return false;
  return true;
}

// Rows shorter than a pack, of parts of a warp, of a warp, of blocks, and longer than a block keeps.
constexpr std::int64_t rows_and_classes[][2] = {{0, 3},    {3, 1},    {5, 2},     {100, 10}, {7, 4},    {3, 31},
                                                {5, 64},   {2, 65},   {9, 128},   {3, 129},  {2, 512},  {2, 513},
                                                {1, 1000}, {2, 1024}, {9, 1025},  {9, 2048}, {2, 2049}, {2, 4096},
                                                {1, 4097}, {1, 8200}, {1, 16384}, {1, 16387}};

struct labelled {
  std::vector<double> loss, backprop;
};

// The cross entropy of labels of any weights.
template <class T>
labelled cross_entropy_of(const matrix<T>& m, const std::vector<T>& labels) {
  labelled expected{{}, m.shares(false)};
  const std::vector<double> logs = m.shares(true);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    double loss = 0;
    for (std::int64_t i = 0; i < m.n; ++i) {
      const double weight = static_cast<double>(labels[m.place(r, i)]);
      if (weight != 0) loss -= weight * logs[m.place(r, i)];
      expected.backprop[m.place(r, i)] -= weight;
    }
    expected.loss.push_back(loss);
  }
  return expected;
}

}  // namespace

TEMPLATE_TEST_CASE("softmax and its logarithm of rows of any length", "", float, double) {
  const kernels::stream stream;
  for (const auto& [rows, n] : rows_and_classes)
    for (const int behind : {0, 1}) {
      INFO(rows << " rows of " << n << ", " << behind << " behind a pack");
      const matrix<TestType> m{rows, n};
      const device_array<TestType> x(stream, m.x, behind), y(stream, rows * n, behind);
      pinion::cuda::softmax<TestType>(stream, x.data(), y.data(), rows, n);
      CHECK(is_near(y.read(), m.shares(false)));
      pinion::cuda::log_softmax<TestType>(stream, x.data(), y.data(), rows, n);
      CHECK(is_near(y.read(), m.shares(true)));
    }
}

TEST_CASE("a row with NaN, with infinity, or of nothing but -infinity is NaN, and others are not") {
  const kernels::stream stream;
  matrix<float> m{5, 9};
  constexpr float none = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
  m.x[m.place(0, 4)] = none;
  m.x[m.place(1, 8)] = most;
  for (int i = 0; i < 9; ++i) m.x[m.place(2, i)] = -most;
  m.x[m.place(3, 2)] = -most;
  const device_array<float> x(stream, m.x), y(stream, 45);
  pinion::cuda::softmax<float>(stream, x.data(), y.data(), 5, 9);
  const std::vector<float> found = y.read();
  for (std::size_t i = 0; i < 27; ++i) CHECK(std::isnan(found[i]));
  for (std::size_t i = 27; i < 45; ++i) CHECK(std::isfinite(found[i]));
  CHECK(found[m.place(3, 2)] == 0);
}

TEMPLATE_TEST_CASE("cross entropies of labels with weights, with their gradients and without", "", float, double) {
  const kernels::stream stream;
  for (const auto& [rows, n] : rows_and_classes) {
    INFO(rows << " rows of " << n);
    const matrix<TestType> m{rows, n};
    const auto labels = some_elements<TestType>(rows * n, 3);
    const labelled expected = cross_entropy_of(m, labels);
    const device_array<TestType> weights(stream, labels), x(stream, m.x), loss(stream, rows), slope(stream, rows * n);
    pinion::cuda::cross_entropy<TestType>(stream, weights.data(), x.data(), loss.data(), slope.data(), rows, n);
    CHECK(is_near(loss.read(), expected.loss, std::sqrt(static_cast<double>(n))));
    CHECK(is_near(slope.read(), expected.backprop));
    pinion::cuda::cross_entropy<TestType>(stream, weights.data(), x.data(), loss.data(), nullptr, rows, n);
    CHECK(is_near(loss.read(), expected.loss, std::sqrt(static_cast<double>(n))));
  }
}

TEST_CASE("a label of weight 0 contributes 0 where its logit is infinite") {
  const kernels::stream stream;
  matrix<float> m{1, 3};
  m.x = {-std::numeric_limits<float>::infinity(), 1, 2};
  const std::vector<float> labels{0, 1, 0};
  const device_array<float> weights(stream, labels), x(stream, m.x), loss(stream, 1);
  pinion::cuda::cross_entropy<float>(stream, weights.data(), x.data(), loss.data(), nullptr, 1, 3);
  CHECK(is_near(loss.read(), cross_entropy_of(m, labels).loss));
}

TEMPLATE_TEST_CASE("cross entropies of one class a row", "", std::int32_t, std::int64_t) {
  const kernels::stream stream;
  for (const auto& [rows, n] : rows_and_classes) {
    INFO(rows << " rows of " << n);
    const matrix<double> m{rows, n};
    std::vector<TestType> labels;
    std::vector<double> weights(m.x.size(), 0);
    for (std::int64_t r = 0; r < rows; ++r) {
      labels.push_back(static_cast<TestType>(r * 7 % n));
      weights[m.place(r, r * 7 % n)] = 1;
    }
    const labelled expected = cross_entropy_of(m, weights);
    const device_array<TestType> classes(stream, labels);
    const device_array<double> x(stream, m.x), loss(stream, rows), slope(stream, rows * n);
    const device_array<first_wrong> wrong(stream, std::vector<first_wrong>{{~0ull, 0}});
    pinion::cuda::sparse_cross_entropy(stream, classes.data(), x.data(), loss.data(), slope.data(), rows, n,
                                       wrong.data());
    CHECK(is_near(loss.read(), expected.loss));
    CHECK(is_near(slope.read(), expected.backprop));
    CHECK(wrong.read()[0].position == ~0ull);
  }
}

TEST_CASE("the first label that is no class is kept, with its position") {
  const kernels::stream stream;
  const matrix<float> m{600, 10};
  std::vector<std::int32_t> labels(600, 9);
  labels[311] = -4;
  labels[312] = 10;
  labels[599] = 11;
  const device_array<std::int32_t> classes(stream, labels);
  const device_array<float> x(stream, m.x), loss(stream, 600);
  const device_array<first_wrong> wrong(stream, std::vector<first_wrong>{{~0ull, 0}});
  pinion::cuda::sparse_cross_entropy<float, std::int32_t>(stream, classes.data(), x.data(), loss.data(), nullptr, 600,
                                                          10, wrong.data());
  const first_wrong found = wrong.read()[0];
  CHECK(found.position == 311);
  CHECK(found.value == -4);
}

TEMPLATE_TEST_CASE("rows are scaled, in place too", "", float, double) {
  const kernels::stream stream;
  for (const auto& [rows, n] : rows_and_classes) {
    INFO(rows << " rows of " << n);
    const auto x = some_elements<TestType>(rows * n), factors = some_elements<TestType>(rows, 5);
    std::vector<TestType> expected = x;
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] *= factors[i / static_cast<std::size_t>(n)];
    const device_array<TestType> y(stream, x), by(stream, factors);
    pinion::cuda::scale_rows<TestType>(stream, y.data(), by.data(), y.data(), rows, n);
    CHECK(y.read() == expected);
  }
}

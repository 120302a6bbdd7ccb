// Matrix products on a GPU by a library that is opened while the program runs.
#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>

#include <string>

#include <pinion/device/cuda/shared_library.hpp>
#include <pinion/op/matmul/spelling.hpp>

#include "cuda_device/gpus.hpp"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace {

using namespace cuda_tests;

// The stand-in for cuBLASLt. What the library chose for some extents is kept, so each test has extents of its own.
struct products : world {
  pn::cuda::shared_library library{{"libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)}};
  products() {
    REQUIRE(library.is_open());
    library.symbol<void(decltype(&cudaLaunchHostFunc))>("fake_cublas_run_by")(&cudaLaunchHostFunc);
  }
  ~products() {
    refuse(false);
    refuse_ends(false);
  }
  int choices() const { return library.symbol<int()>("fake_cublas_choices")(); }
  int count() const { return library.symbol<int()>("fake_cublas_products")(); }
  int ended() const { return library.symbol<int()>("fake_cublas_ended_products")(); }
  cublasComputeType_t last_compute() const {
    return library.symbol<cublasComputeType_t()>("fake_cublas_last_compute")();
  }
  void refuse(bool all) const { library.symbol<void(bool)>("fake_cublas_refuse")(all); }
  void refuse_ends(bool all) const { library.symbol<void(bool)>("fake_cublas_refuse_ends")(all); }
};

template <class T>
pn::tensor<T> numbers(std::int64_t rows, std::int64_t columns) {
  pn::tensor<T> all{{rows, columns}};
  for (std::size_t i = 0; i < all.span().size(); ++i) all.span()[i] = static_cast<T>(static_cast<int>(i * 7 % 11) - 5);
  return all;
}

// The product of two matrices of some extents on a device.
template <class T>
std::string product_on(const std::string& where, std::int64_t m, std::int64_t k, std::int64_t n,
                       const pn::matmul_options& o, const pn::gpu_options& gpu = {}) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{where};
  const auto a = o.transpose_a ? numbers<T>(k, m) : numbers<T>(m, k);
  const auto b = o.transpose_b ? numbers<T>(n, k) : numbers<T>(k, n);
  auto x = pn::placeholder<T>({pn::unknown, pn::unknown}), y = pn::placeholder<T>({pn::unknown, pn::unknown});
  auto z = pn::matmul(x, y, o);
  pn::session sess({.gpu = gpu});
  return to_string(sess.run({{x, a}, {y, b}}, z));
}

// The values of a layer [m, k] x [k, n] with a bias and relu on a device, and of the gradients of a loss by its weights
// and biases.
std::vector<std::string> layer_on(const std::string& where, std::int64_t m, std::int64_t k, std::int64_t n) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{where};
  const auto weights = numbers<float>(k, n);
  auto x = pn::placeholder<float>({pn::unknown, k});
  auto w = pn::placeholder<float>({k, n}), b = pn::placeholder<float>({n});
  auto y = pn::relu(pn::matmul(x, w) + b);
  const auto [by_w, by_b] = pn::gradients(pn::reduce_sum(y * y), w, b);
  pn::tensor<float> biases{{n}};
  for (std::size_t i = 0; i < biases.span().size(); ++i) biases.span()[i] = static_cast<float>(i % 3) - 1;
  pn::session sess;
  const auto [value, slope, bias_slope] =
      sess.run({{x, numbers<float>(m, k)}, {w, weights}, {b, biases}}, y, by_w, by_b);
  return {to_string(value), to_string(slope), to_string(bias_slope)};
}

template <class T>
void check_products(std::int64_t m, std::int64_t k, std::int64_t n) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      INFO(m << " x " << k << " x " << n << ", transposed: " << ta << " and " << tb);
      const pn::matmul_options o{.transpose_a = ta, .transpose_b = tb};
      CHECK(product_on<T>("/gpu:0", m, k, n, o) == product_on<T>("/cpu:0", m, k, n, o));
    }
}

}  // namespace

TEST_CASE_METHOD(products, "the library multiplies matrices of any extents, each as it is or transposed") {
  const int before = count();
  check_products<float>(3, 17, 5);
  check_products<float>(31, 1, 2);
  check_products<double>(3, 17, 5);
  check_products<double>(1, 40, 7);
  CHECK(count() - before == 16);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "the library chooses once for all products of the same extents") {
  const int before = choices();
  for (int i = 0; i < 3; ++i) product_on<float>("/gpu:0", 19, 3, 23, {});
  CHECK(choices() - before == 1);
}

TEST_CASE_METHOD(products, "floats are multiplied in full precision unless the session's options say otherwise") {
  using enum pn::product_precision;
  const auto compute = [&]<class T>(const pn::gpu_options& o) {
    product_on<T>("/gpu:0", 21, 3, 25, {}, o);
    return last_compute();
  };
  CHECK(compute.operator()<float>({}) == CUBLAS_COMPUTE_32F);
  CHECK(compute.operator()<float>({.float_products = tensor_float_32}) == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(compute.operator()<float>({.float_products = bfloat16}) == CUBLAS_COMPUTE_32F_FAST_16BF);
  CHECK(compute.operator()<float>({.float_products = full}) == CUBLAS_COMPUTE_32F);
  CHECK(compute.operator()<double>({.float_products = bfloat16}) == CUBLAS_COMPUTE_64F);
}

TEST_CASE_METHOD(products,
                 "where the library refuses a product, and where it is empty, pinion's own kernel computes it") {
  refuse(true);
  const int before = count();
  check_products<float>(13, 29, 11);
  refuse(false);
  check_products<float>(4, 0, 3);
  check_products<double>(0, 2, 3);
  CHECK(count() == before);
}

TEST_CASE_METHOD(products, "a layer with a bias and relu is one call of the library") {
  const int before = ended();
  CHECK(layer_on("/gpu:0", 5, 7, 9) == layer_on("/cpu:0", 5, 7, 9));
  CHECK(ended() - before == 1);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "where the library has products alone, or nothing, pinion's own kernels end them") {
  const int products_before = count(), ended_before = ended();
  refuse_ends(true);
  CHECK(layer_on("/gpu:0", 5, 8, 9) == layer_on("/cpu:0", 5, 8, 9));
  CHECK(count() - products_before == 2);
  refuse(true);
  CHECK(layer_on("/gpu:0", 5, 600, 9) == layer_on("/cpu:0", 5, 600, 9));
  CHECK(count() - products_before == 2);
  CHECK(ended() == ended_before);
  CHECK(fake_cuda::take_misuses().empty());
}

#endif

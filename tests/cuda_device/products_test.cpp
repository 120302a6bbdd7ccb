// Matrix products on a GPU by a library that is opened while the program runs.
#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>

#include <cmath>
#include <string>

#include <pinion/device/cuda/shared_library.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/matmul/cublas.hpp>
#include <pinion/train.hpp>

#include "cuda_device/gpus.hpp"
#include "support/told_lines.hpp"

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
    find_relu(pn::op::detail::products_library());  // what it tries when it is opened is not counted
  }
  ~products() {
    refuse(false);
    refuse_ends(0);
  }
  // Has a library a kernel for a product that ends with relu?
  static bool find_relu(pn::op::detail::cublas_library& in) {
    return in.find({pn::dtype::float32, {3, 3, 3, false, false}, 256, {}, CUBLASLT_EPILOGUE_RELU_BIAS}) != nullptr;
  }
  int choices() const { return library.symbol<int()>("fake_cublas_choices")(); }
  int count() const { return library.symbol<int()>("fake_cublas_products")(); }
  int ended_by(cublasLtEpilogue_t end) const {
    return library.symbol<int(std::uint32_t)>("fake_cublas_products_ended_by")(end);
  }
  cublasComputeType_t last_compute() const {
    return library.symbol<cublasComputeType_t()>("fake_cublas_last_compute")();
  }
  void refuse(bool all) const { library.symbol<void(bool)>("fake_cublas_refuse")(all); }
  // Refuses the ends that have one of these bits.
  void refuse_ends(std::uint32_t bits) const { library.symbol<void(std::uint32_t)>("fake_cublas_refuse_ends")(bits); }
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

constexpr std::uint32_t all_ends = ~0u;
// The second of some steps is recorded, and replayed from then on; so the library is called in two of them.
constexpr int steps = 4, called = 2;

// The weights and biases of two layers after some steps on a device.
template <class T>
std::vector<double> trained_on(const std::string& where, std::int64_t rows, std::int64_t units, bool turned) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{where};
  const pn::matmul_options as{.transpose_b = turned};
  const auto weights = [&](std::int64_t in, std::int64_t out) {
    pn::tensor<T> values = turned ? numbers<T>(out, in) : numbers<T>(in, out);
    for (T& w : values.span()) w /= 16;
    return pn::variable(values);
  };
  auto x = pn::placeholder<T>({pn::unknown, 3});
  auto labels = pn::placeholder<int>({pn::unknown});
  auto w1 = weights(3, units), w2 = weights(units, 2);
  auto b1 = pn::variable(pn::tensor<T>({units})), b2 = pn::variable(pn::tensor<T>::of({1, -1}));
  auto h = pn::relu(pn::matmul(x, w1, as) + b1);
  auto y = pn::matmul(h, w2, as) + b2;
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(labels, y));
  auto train = pn::train::gradient_descent{{.learning_rate = .1}}.minimize(loss);
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  pn::tensor<int> classes{{rows}};
  for (std::size_t i = 0; i < classes.span().size(); ++i) classes.span()[i] = i % 3 == 0;
  for (int i = 0; i < steps; ++i) sess.run({{x, numbers<T>(rows, 3)}, {labels, classes}}, train);
  std::vector<double> all;
  const auto add = [&](const pn::tensor<T>& t) { all.insert(all.end(), t.span().begin(), t.span().end()); };
  add(sess.run(w1)), add(sess.run(w2)), add(sess.run(b1)), add(sess.run(b2));
  return all;
}

// Trains on the GPU and on the CPU, and compares.
template <class T>
void check_training(std::int64_t rows, std::int64_t units, bool turned = false) {
  const auto on_gpu = trained_on<T>("/gpu:0", rows, units, turned),
             on_cpu = trained_on<T>("/cpu:0", rows, units, turned);
  REQUIRE(on_gpu.size() == on_cpu.size());
  for (std::size_t i = 0; i < on_cpu.size(); ++i) CHECK(on_gpu[i] == Approx(on_cpu[i]).epsilon(1e-4).margin(1e-5));
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

TEST_CASE_METHOD(products, "the library multiplies matrices of any extents, each as it is or transposed",
                 "[stand-in]") {
  const int before = count();
  check_products<float>(3, 17, 5);
  check_products<float>(31, 1, 2);
  check_products<double>(3, 17, 5);
  check_products<double>(1, 40, 7);
  CHECK(count() - before == 16);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "the library chooses once for all products of the same extents", "[stand-in]") {
  const int before = choices();
  for (int i = 0; i < 3; ++i) product_on<float>("/gpu:0", 19, 3, 23, {});
  CHECK(choices() - before == 1);
}

TEST_CASE_METHOD(products, "floats are multiplied in full precision unless the session's options say otherwise",
                 "[stand-in]") {
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
                 "where the library refuses a product, and where it is empty, pinion's own kernel computes it",
                 "[stand-in]") {
  refuse(true);
  const int before = count();
  check_products<float>(13, 29, 11);
  refuse(false);
  check_products<float>(4, 0, 3);
  check_products<double>(0, 2, 3);
  CHECK(count() == before);
}

TEST_CASE_METHOD(products, "a product that the library refuses is told of once, with its node and its extents",
                 "[stand-in]") {
  refuse(true);
  const told_lines lines;
  for (int i = 0; i < 2; ++i) product_on<float>("/gpu:0", 14, 29, 11, {.name = "refused"});
  CHECK(lines.all() ==
        "pinion: the GPU computes node 'refused' (MatMul) in tiles, since cuBLASLt refuses inputs of "
        "shapes [14, 29], [29, 11]\n");
}

TEST_CASE_METHOD(products, "a plan says that a product is computed in tiles once the library refused it",
                 "[stand-in]") {
  refuse(true);
  const told_lines lines;
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({3, 3}, "x");
  auto y = pn::matmul(x, x, {.name = "squared"});
  pn::session sess;
  CHECK(sess.plan(y).find("squared")->kernel == "CUDA by cuBLASLt");
  sess.run({{x, pn::tensor<float>({3, 3})}}, y);
  CHECK(sess.plan(y).find("squared")->kernel == "CUDA in tiles, since cuBLASLt refused it");
}

TEST_CASE_METHOD(products, "a layer with a bias and relu is one call of the library", "[stand-in]") {
  const int before = ended_by(CUBLASLT_EPILOGUE_RELU_BIAS);
  CHECK(layer_on("/gpu:0", 5, 7, 9) == layer_on("/cpu:0", 5, 7, 9));
  CHECK(ended_by(CUBLASLT_EPILOGUE_RELU_BIAS) - before == 1);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "where the library has products alone, or nothing, pinion's own kernels end them",
                 "[stand-in]") {
  const int products_before = count(), ended_before = ended_by(CUBLASLT_EPILOGUE_RELU_BIAS);
  refuse_ends(all_ends);
  CHECK(layer_on("/gpu:0", 5, 8, 9) == layer_on("/cpu:0", 5, 8, 9));
  CHECK(count() - products_before == 2);
  refuse(true);
  CHECK(layer_on("/gpu:0", 5, 600, 9) == layer_on("/cpu:0", 5, 600, 9));
  CHECK(count() - products_before == 2);
  CHECK(ended_by(CUBLASLT_EPILOGUE_RELU_BIAS) == ended_before);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "the gradients of a layer's relu and of biases are ends of products of the library",
                 "[stand-in]") {
  const int masks = ended_by(CUBLASLT_EPILOGUE_RELU_AUX_BIAS), relus = ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD),
            biases = ended_by(CUBLASLT_EPILOGUE_BGRADA), all = count();
  check_training<float>(5, 7);
  CHECK(ended_by(CUBLASLT_EPILOGUE_RELU_AUX_BIAS) - masks == called);
  CHECK(ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD) - relus == called);
  CHECK(ended_by(CUBLASLT_EPILOGUE_BGRADA) - biases == called);
  CHECK(count() - all == 5 * called);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "weights that stand in a layer's product transposed get the sums of the other factor",
                 "[stand-in]") {
  const int before = ended_by(CUBLASLT_EPILOGUE_BGRADB);
  check_training<float>(5, 9, true);
  CHECK(ended_by(CUBLASLT_EPILOGUE_BGRADB) - before == called);
}

TEST_CASE_METHOD(products, "where the library refuses the gradients, pinion's own kernels compute them", "[stand-in]") {
  const int relus = ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD), biases = ended_by(CUBLASLT_EPILOGUE_BGRADA);
  refuse_ends(all_ends);
  check_training<float>(5, 11);
  refuse(true);
  check_training<float>(6, 13);
  CHECK(ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD) == relus);
  CHECK(ended_by(CUBLASLT_EPILOGUE_BGRADA) == biases);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "a library whose relu drops NaN, or passes gradients at 0, ends no layer with it",
                 "[stand-in]") {
  const auto take_maximum = library.symbol<void(bool)>("fake_cublas_take_maximum");
  CHECK(find_relu(pn::op::detail::products_library()));
  pn::op::detail::cublas_library other, more;
  take_maximum(true);
  CHECK(!find_relu(other));
  take_maximum(false);
  CHECK(!find_relu(other));  // it was tried when it was opened
  CHECK(find_relu(more));
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(products, "a mask that the library refuses to note or to take leads to pinion's own end",
                 "[stand-in]") {
  for (const auto refused : {CUBLASLT_EPILOGUE_RELU_AUX ^ CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_DRELU & ~128}) {
    const std::int64_t rows = refused == 128 ? 7 : 8;
    refuse_ends(static_cast<std::uint32_t>(refused));
    const int relus = ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD), biases = ended_by(CUBLASLT_EPILOGUE_BGRADA);
    check_training<float>(rows, 15);
    CHECK(ended_by(CUBLASLT_EPILOGUE_DRELU_BGRAD) == relus);
    CHECK(ended_by(CUBLASLT_EPILOGUE_BGRADA) - biases == called);
  }
}

TEST_CASE_METHOD(world, "layers train on a GPU as on a CPU, whichever ends of products its library has") {
  check_training<float>(3, 17);
  check_training<float>(33, 128);
  check_training<float>(64, 200, true);
  check_training<double>(9, 20);
}

TEST_CASE_METHOD(products, "a layer of doubles trains with the library's products alone", "[stand-in]") {
  const int masks = ended_by(CUBLASLT_EPILOGUE_RELU_AUX_BIAS), all = count();
  check_training<double>(5, 7);
  CHECK(ended_by(CUBLASLT_EPILOGUE_RELU_AUX_BIAS) == masks);
  CHECK(count() - all == 5 * called);
}

// Elements whose sums depend on the order of their parts.
pn::tensor<float> uneven(std::int64_t rows, std::int64_t columns) {
  pn::tensor<float> all{{rows, columns}};
  for (std::size_t i = 0; i < all.span().size(); ++i)
    all.span()[i] = std::ldexp(static_cast<float>(i * 2654435761u % 65521) - 32760, -static_cast<int>(i % 23));
  return all;
}

TEST_CASE_METHOD(world, "the gradients of a wide layer, and the sums for its biases, have the same bits each time") {
  const std::int64_t rows = stand_in_libraries ? 9 : 512, wide = stand_in_libraries ? 24 : 4096;
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({rows, wide}), w = pn::placeholder<float>({wide, wide});
  auto b = pn::placeholder<float>({wide}), w2 = pn::placeholder<float>({wide, wide});
  auto y = pn::matmul(pn::relu(pn::matmul(x, w) + b), w2);
  const auto [by_w, by_b, by_w2] = pn::gradients(pn::reduce_sum(y * y), w, b, w2);
  const auto of_x = uneven(rows, wide), of_w = uneven(wide, wide), of_w2 = uneven(wide, wide);
  const pn::tensor<float> of_b{{wide}};
  const auto all = [&](pn::session& in) {
    return in.run({{x, of_x}, {w, of_w}, {b, of_b}, {w2, of_w2}}, by_w, by_b, by_w2);
  };
  pn::session first, second;
  const auto once = all(first);
  for (int i = 0; i < 3; ++i) CHECK((all(first) == once));  // the third run replays what the second recorded
  CHECK((all(second) == once));
}

#endif

// Matrix products of GPUs by cuBLASLt, which is opened when the first kernel of a product is made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <pinion/base/dtype.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/device/cuda/shared_library.hpp>
#include <pinion/device/device.hpp>
#include <pinion/device/product_precision.hpp>
#include <pinion/op/matmul/cuda_kernels.hpp>

#if PINION_HAS_CUDA && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cuda_runtime_api.h>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The functions of cuBLASLt, of the version whose header was compiled in. They are there all, or none is used.
struct cublas_functions {
  // It opens NVRTC by its bare name, and finds it open wherever that lies.
  const cuda::compiler& opens = cuda::compiler::of_this_program();
  const cuda::shared_library library{{"libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)}};
#define PINION_CUBLAS(function) \
  decltype(&::cublasLt##function) function = library.symbol<decltype(::cublasLt##function)>("cublasLt" #function)
  PINION_CUBLAS(Create);
  PINION_CUBLAS(Matmul);
  PINION_CUBLAS(MatmulAlgoGetHeuristic);
  PINION_CUBLAS(MatmulDescCreate);
  PINION_CUBLAS(MatmulDescDestroy);
  PINION_CUBLAS(MatmulDescSetAttribute);
  PINION_CUBLAS(MatrixLayoutCreate);
  PINION_CUBLAS(MatrixLayoutDestroy);
  PINION_CUBLAS(MatmulPreferenceCreate);
  PINION_CUBLAS(MatmulPreferenceDestroy);
  PINION_CUBLAS(MatmulPreferenceSetAttribute);
#undef PINION_CUBLAS

  bool are_there() const {
    return Create && Matmul && MatmulAlgoGetHeuristic && MatmulDescCreate && MatmulDescDestroy &&
           MatmulDescSetAttribute && MatrixLayoutCreate && MatrixLayoutDestroy && MatmulPreferenceCreate &&
           MatmulPreferenceDestroy && MatmulPreferenceSetAttribute;
  }
};

// The end of a product by the library, and what that takes from memory or leaves there, for runs that may differ.
struct cublas_end {
  cublasLtEpilogue_t how = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;  // the bias, which is read, or sums for the gradient of one, which are written
  const void* mask = nullptr;    // bits that one product leaves and another takes: mask_bytes(n) for each row

  static constexpr std::int64_t mask_bits(std::int64_t n) { return (n + 127) / 128 * 128; }
  static constexpr std::int64_t mask_bytes(std::int64_t n) { return mask_bits(n) / 8; }
  static bool has_vector(cublasLtEpilogue_t how) {
    constexpr int sums = CUBLASLT_EPILOGUE_DRELU_BGRAD ^ CUBLASLT_EPILOGUE_DRELU;
    return how & (CUBLASLT_EPILOGUE_BIAS | sums | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB);
  }
  static bool has_mask(cublasLtEpilogue_t how) { return how & (CUBLASLT_EPILOGUE_RELU_AUX ^ CUBLASLT_EPILOGUE_RELU); }
};

// All that the choice of a product's kernel depends on, beside the GPU.
struct cublas_product {
  dtype type;
  cuda::product_extents of;
  std::size_t alignment;  // of all operands, in bytes
  product_precision precision;
  cublasLtEpilogue_t end;

  auto key() const {
    return std::tuple(type, of.m, of.n, of.k, of.transpose_a, of.transpose_b, alignment, precision, end);
  }
  cublasComputeType_t compute() const {
    if (type == dtype::float64) return CUBLAS_COMPUTE_64F;
    if (precision == product_precision::tensor_float_32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    return precision == product_precision::bfloat16 ? CUBLAS_COMPUTE_32F_FAST_16BF : CUBLAS_COMPUTE_32F;
  }
};

// A product of some extents in the words of the library, and the kernel that it chose. Matrices of the library have
// their columns in memory one after another, so it is asked for the transposed product: b is its first factor, a bias
// has an element for each of its rows, and so has the gradient of one. The library promises the same bits in every run
// on GPUs of one kind, and excepts none of the ends that are used here. Thread-safe.
class cublas_plan {
 public:
  static constexpr std::size_t most_workspace = 32 << 20;

  cublas_plan(const cublas_functions& f, cublasLtHandle_t handle, const cublas_product& p)
      : f_(f),
        handle_(handle),
        product_(nullptr, f.MatmulDescDestroy),
        b_(layout(p.type, p.of.transpose_b, p.of.n, p.of.k)),
        a_(layout(p.type, p.of.transpose_a, p.of.k, p.of.m)),
        c_(layout(p.type, false, p.of.n, p.of.m)) {
    cublasLtMatmulDesc_t product = nullptr;
    succeed(f_.MatmulDescCreate(&product, p.compute(), data_type(p.type)));
    product_.reset(product);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.of.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.of.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.end);
    // The choice takes the alignment of what the end reads or writes from its address.
    if (cublas_end::has_vector(p.end)) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.alignment);
    if (cublas_end::has_mask(p.end)) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.alignment);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, cublas_end::mask_bits(p.of.n));
    }
    if (is_good_) choose(static_cast<std::uint32_t>(p.alignment));
  }
  cublas_plan(const cublas_plan&) = delete;

  // True if the library has a kernel for the product.
  bool is_good() const { return is_good_; }
  // The bytes of memory that a run needs beside its operands.
  std::size_t workspace() const { return chosen_.workspaceSize; }
  // Enqueues a run. Returns false where the library refuses.
  template <class T>
  bool run(devices::cuda_stream stream, const T* a, const T* b, T* c, const cublas_end& end, void* workspace) const {
    const T one = 1, zero = 0;
    std::unique_lock<std::mutex> hold;
    if (end.vector) {  // its address is part of the description, as is that of the mask
      hold = std::unique_lock(mutex_);
      if (!describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, end.vector)) return false;
      if (end.mask && !describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, end.mask)) return false;
    }
    return f_.Matmul(handle_, product_.get(), &one, b, b_.get(), a, a_.get(), &zero, c, c_.get(), c, c_.get(),
                     &chosen_.algo, workspace, chosen_.workspaceSize, stream) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  template <class Opaque>
  using owner = std::unique_ptr<Opaque, cublasStatus_t (*)(Opaque*)>;
  using matrix = owner<cublasLtMatrixLayoutOpaque_t>;

  static cudaDataType_t data_type(dtype type) { return type == dtype::float64 ? CUDA_R_64F : CUDA_R_32F; }
  void succeed(cublasStatus_t status) { is_good_ &= status == CUBLAS_STATUS_SUCCESS; }

  // A factor or result of so many rows and columns in the library's order, stored transposed or not.
  matrix layout(dtype type, bool transposed, std::int64_t rows, std::int64_t columns) {
    if (transposed) std::swap(rows, columns);
    cublasLtMatrixLayout_t made = nullptr;
    succeed(f_.MatrixLayoutCreate(&made, data_type(type), static_cast<std::uint64_t>(rows),
                                  static_cast<std::uint64_t>(columns), rows));
    return {made, f_.MatrixLayoutDestroy};
  }
  template <class Value>
  bool describe(cublasLtMatmulDescAttributes_t attribute, const Value& value) const {
    return f_.MatmulDescSetAttribute(product_.get(), attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  }
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    is_good_ = is_good_ && describe(attribute, value);
  }
  void choose(std::uint32_t alignment) {
    cublasLtMatmulPreference_t made = nullptr;
    succeed(f_.MatmulPreferenceCreate(&made));
    if (!is_good_) return;
    const owner<cublasLtMatmulPreferenceOpaque_t> wishes(made, f_.MatmulPreferenceDestroy);
    const auto wish = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      succeed(f_.MatmulPreferenceSetAttribute(wishes.get(), attribute, &value, sizeof value));
    };
    wish(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{most_workspace});
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      wish(attribute, alignment);
    int found = 0;
    succeed(f_.MatmulAlgoGetHeuristic(handle_, product_.get(), b_.get(), a_.get(), c_.get(), c_.get(), wishes.get(), 1,
                                      &chosen_, &found));
    is_good_ &= found > 0;
  }

  const cublas_functions& f_;
  const cublasLtHandle_t handle_;
  bool is_good_ = true;
  owner<cublasLtMatmulDescOpaque_t> product_;
  const matrix b_, a_, c_;
  cublasLtMatmulHeuristicResult_t chosen_{};
  mutable std::mutex mutex_;  // of the description, where runs change it
};

// A layer of 16 x 16, tried on the GPU of the calling thread: does the library's relu do what pinion's kernels do? NaN
// stays NaN, and no gradient goes through an element that is 0. NVIDIA says neither, and versions and GPUs may differ.
template <class T>
class cublas_relu_trial {
 public:
  cublas_relu_trial(const cublas_functions& f, cublasLtHandle_t handle)
      : relu_(f, handle, product(CUBLASLT_EPILOGUE_RELU_BIAS)),
        noting_(f, handle, product(CUBLASLT_EPILOGUE_RELU_AUX_BIAS)),
        back_(f, handle, product(CUBLASLT_EPILOGUE_DRELU_BGRAD)) {}

  // True also where the library has no such end. False where CUDA fails: then pinion's own kernels end the layers.
  bool holds() {
    if (!relu_.is_good() && !(noting_.is_good() && back_.is_good())) return true;
    return begin() && keeps_nan() && shuts_at_zero();
  }

 private:
  static constexpr std::int64_t n = 16;
  static constexpr std::size_t row = n * sizeof(T), matrix = n * row, mask = n * cublas_end::mask_bytes(n);
  // Where each operand begins in the memory, in bytes.
  static constexpr std::size_t zeros = 0, shares = matrix, ones = 2 * matrix, result = 3 * matrix, bias = 4 * matrix,
                               sums = 5 * matrix, bits = 6 * matrix, room = 6 * matrix + mask;

  static cublas_product product(cublasLtEpilogue_t end) {
    return {dtype_of<T>, {n, n, n, false, false}, 256, product_precision::full, end};
  }
  static T element_of_bias(std::int64_t i) {
    constexpr T those[] = {std::numeric_limits<T>::quiet_NaN(), 0, 1, -1};
    return those[i % 4];
  }
  T* at(std::size_t place) const { return reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + place); }

  bool begin() {
    void* taken = nullptr;
    cudaStream_t made = nullptr;
    const auto most = std::max({relu_.workspace(), noting_.workspace(), back_.workspace()});
    if (cudaMalloc(&taken, room + most)) return cudaGetLastError(), false;
    memory_.reset(taken);
    if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking)) return cudaGetLastError(), false;
    stream_.reset(made);
    std::vector<T> all(room / sizeof(T));
    std::fill_n(all.begin() + shares / sizeof(T), n * n, T(1) / n);
    std::fill_n(all.begin() + ones / sizeof(T), n * n, T(1));
    for (std::int64_t i = 0; i < n; ++i) all[bias / sizeof(T) + static_cast<std::size_t>(i)] = element_of_bias(i);
    return !cudaMemcpyAsync(taken, all.data(), room, cudaMemcpyHostToDevice, made) && !cudaStreamSynchronize(made);
  }
  // The first row of the result of a product.
  std::vector<T> row_of(const cublas_plan& plan, std::size_t a, std::size_t b, const cublas_end& end) const {
    std::vector<T> found(n);
    const bool is_done = plan.run(stream_.get(), at(a), at(b), at(result), end, at(room)) &&
                         !cudaMemcpyAsync(found.data(), at(result), row, cudaMemcpyDeviceToHost, stream_.get()) &&
                         !cudaStreamSynchronize(stream_.get());
    return is_done ? found : std::vector<T>();
  }
  bool keeps_nan() const {
    if (!relu_.is_good()) return true;
    const auto y = row_of(relu_, zeros, zeros, {CUBLASLT_EPILOGUE_RELU_BIAS, at(bias)});
    return !y.empty() && std::isnan(y[0]) && y[1] == 0 && y[2] == 1 && y[3] == 0;
  }
  bool shuts_at_zero() const {
    if (!noting_.is_good() || !back_.is_good()) return true;
    const auto y = row_of(noting_, zeros, zeros, {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, at(bias), at(bits)});
    const auto back = row_of(back_, shares, ones, {CUBLASLT_EPILOGUE_DRELU_BGRAD, at(sums), at(bits)});
    return !y.empty() && std::isnan(y[0]) && !back.empty() && back[1] == 0 && back[2] == 1 && back[3] == 0;
  }

  const cublas_plan relu_, noting_, back_;
  std::unique_ptr<void, cudaError_t (*)(void*)> memory_{nullptr, cudaFree};
  std::unique_ptr<CUstream_st, cudaError_t (*)(cudaStream_t)> stream_{nullptr, cudaStreamDestroy};
};

// The library, as this process uses it, with the kernels that it chose. Thread-safe.
class cublas_library {
 public:
  bool is_there() const { return functions_.are_there(); }
  // The plan of a product on the GPU of the calling thread; null where the library is missing or has none for it.
  std::shared_ptr<const cublas_plan> find(const cublas_product& p) {
    int gpu = 0;
    if (!functions_.are_there() || cudaGetDevice(&gpu) != cudaSuccess) return nullptr;
    std::lock_guard hold(mutex_);
    const auto [at, is_new] = gpus_.try_emplace(gpu);
    on_gpu& here = at->second;
    if (is_new) open(here);
    if (!here.handle || (!here.ends_relu && (p.end & CUBLASLT_EPILOGUE_RELU))) return nullptr;
    if (here.plans.size() >= most_plans) here.plans.clear();
    auto& plan = here.plans[p.key()];
    if (!plan) plan = std::make_shared<const cublas_plan>(functions_, here.handle, p);
    return plan->is_good() ? plan : nullptr;
  }

 private:
  static constexpr std::size_t most_plans = 4096;
  struct on_gpu {
    cublasLtHandle_t handle = nullptr;
    bool ends_relu = true;  // as pinion's own kernels do
    std::map<decltype(cublas_product{}.key()), std::shared_ptr<const cublas_plan>> plans;
  };

  void open(on_gpu& one) const {
    if (functions_.Create(&one.handle) != CUBLAS_STATUS_SUCCESS) one.handle = nullptr;
    if (one.handle)
      one.ends_relu = cublas_relu_trial<float>(functions_, one.handle).holds() &&
                      cublas_relu_trial<double>(functions_, one.handle).holds();
  }

  const cublas_functions functions_{};
  std::mutex mutex_;
  std::map<int, on_gpu> gpus_;
};

inline cublas_library& products_library() {
  return of_this_process<cublas_library>();
}

// The plan that a kernel of one GPU used last: a product of the same extents takes it without a look into the table
// that all kernels share. Thread-safe.
class cublas_last_plan {
 public:
  // Requires: the calling thread's GPU is always the same.
  std::shared_ptr<const cublas_plan> find(const cublas_product& p) {
    const auto key = p.key();
    std::lock_guard hold(mutex_);
    if (!plan_ || key_ != key) {
      plan_ = products_library().find(p);
      key_ = key;
    }
    return plan_;
  }

 private:
  std::mutex mutex_;
  decltype(cublas_product{}.key()) key_;
  std::shared_ptr<const cublas_plan> plan_;
};

}}}}  // namespace pinion::v0::op::detail
#endif

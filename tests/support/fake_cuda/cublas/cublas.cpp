// A stand-in for cuBLASLt: it multiplies on the host, in the order of the stream that it is given. It has no kernel for
// any product before a test lets it have some.
#include <cublasLt.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>

namespace {

struct description {
  cublasComputeType_t compute;
  cublasOperation_t factors[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  std::uint32_t end = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;

  bool transposes(int factor) const { return factors[factor] == CUBLAS_OP_T; }
};
struct matrix {
  cudaDataType type;
  std::int64_t rows, columns, ld;
};
struct preference {
  std::size_t workspace;
};

// Descriptions stand in the opaque structs of the header.
template <class T, class Opaque>
T& inside(Opaque* opaque) {
  static_assert(sizeof(T) <= sizeof(Opaque));
  return *reinterpret_cast<T*>(opaque);
}

constexpr std::size_t workspace = 4096;

std::atomic<int> choices = 0, products = 0, ended_products = 0;
std::atomic<cublasComputeType_t> last_compute{};
std::atomic<bool> refuses = false, refuses_ends = false;
decltype(&cudaLaunchHostFunc) launch_host_function = nullptr;

// One product. The library's matrices have their columns in memory one after another.
struct product {
  description of;
  matrix a, b, d;
  const void *left, *right;
  void* to;
  double alpha, beta;

  template <class T>
  static T element(const void* from, const matrix& m, bool transposed, std::int64_t row, std::int64_t column) {
    return static_cast<const T*>(from)[transposed ? row * m.ld + column : column * m.ld + row];
  }
  template <class T>
  void run() const {
    const std::int64_t k = of.transposes(0) ? a.rows : a.columns;
    for (std::int64_t i = 0; i < d.rows; ++i)
      for (std::int64_t j = 0; j < d.columns; ++j) {
        T& sum = static_cast<T*>(to)[j * d.ld + i];
        T all = beta == 0 ? T(0) : static_cast<T>(beta) * sum;
        for (std::int64_t x = 0; x < k; ++x)
          all += static_cast<T>(alpha) * element<T>(left, a, of.transposes(0), i, x) *
                 element<T>(right, b, of.transposes(1), x, j);
        if (of.end & CUBLASLT_EPILOGUE_BIAS) all += static_cast<const T*>(of.bias)[i];
        sum = of.end & CUBLASLT_EPILOGUE_RELU && all <= T(0) ? T(0) : all;
      }
  }
  static void run_one(void* self) {
    const auto* const p = static_cast<const product*>(self);
    p->a.type == CUDA_R_64F ? p->run<double>() : p->run<float>();
  }
  bool fits() const {
    const auto [left_out, left_in] = sides(a, of.transposes(0));
    const auto [right_in, right_out] = sides(b, of.transposes(1));
    const bool is_double = of.compute == CUBLAS_COMPUTE_64F,
               is_float = of.compute == CUBLAS_COMPUTE_32F || of.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
                          of.compute == CUBLAS_COMPUTE_32F_FAST_16BF,
               has_bias = of.bias || !(of.end & CUBLASLT_EPILOGUE_BIAS);
    return has_bias && (a.type == CUDA_R_64F ? is_double : is_float) && left_in == right_in && left_out == d.rows &&
           right_out == d.columns && a.ld >= a.rows && b.ld >= b.rows && d.ld >= d.rows;
  }

 private:
  struct pair {
    std::int64_t rows, columns;
  };
  static pair sides(const matrix& m, bool transposed) {
    return transposed ? pair{m.columns, m.rows} : pair{m.rows, m.columns};
  }
};

// Keeps a product for good, since a graph may run it again.
product* keep(const product& p) {
  static std::mutex mutex;
  static std::deque<product> all;
  std::lock_guard hold(mutex);
  return &all.emplace_back(p);
}

template <class Opaque, class T>
cublasStatus_t make(Opaque** made, const T& value) {
  *made = new Opaque{};
  inside<T>(*made) = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque>
cublasStatus_t destroy(Opaque* made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

// The words between a test and this library. The stand-in for CUDA runs products in its streams.
void fake_cublas_run_by(decltype(&cudaLaunchHostFunc) in_stream) {
  launch_host_function = in_stream;
}
void fake_cublas_refuse(bool all) {
  refuses = all;
}
void fake_cublas_refuse_ends(bool all) {
  refuses_ends = all;
}
int fake_cublas_choices() {
  return choices;
}
int fake_cublas_products() {
  return products;
}
int fake_cublas_ended_products() {
  return ended_products;
}
cublasComputeType_t fake_cublas_last_compute() {
  return last_compute;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int one;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t) {
  return make(made, description{compute});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  return destroy(made);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size) {
  description& d = inside<description>(of);
  const auto take = [&](auto& field) {
    if (size != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, size);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(d.factors[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(d.factors[1]);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(d.end);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(d.bias);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t ld) {
  return make(made, matrix{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  return destroy(made);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return make(made, preference{0});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  return destroy(made);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t of,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    inside<preference>(of).workspace = *static_cast<const std::uint64_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t of, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t wishes, int,
                                              cublasLtMatmulHeuristicResult_t* chosen, int* found) {
  ++choices;
  const product p{inside<description>(of), inside<matrix>(a), inside<matrix>(b), inside<matrix>(d), {}, {}, {}, 1, 0};
  if (!p.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_known = launch_host_function != nullptr;  // to the program
  const bool ends = p.of.end != CUBLASLT_EPILOGUE_DEFAULT;
  *found = is_known && !refuses && !(ends && refuses_ends) && inside<preference>(wishes).workspace >= workspace;
  chosen->workspaceSize = workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t of, const void* alpha, const void* left,
                              cublasLtMatrixLayout_t a, const void* right, cublasLtMatrixLayout_t b, const void* beta,
                              const void*, cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void* room, std::size_t bytes, cudaStream_t stream) {
  if (!room || bytes < workspace) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_double = inside<matrix>(a).type == CUDA_R_64F;
  const auto number = [&](const void* at) {
    return is_double ? *static_cast<const double*>(at) : static_cast<double>(*static_cast<const float*>(at));
  };
  ++products;
  ended_products += inside<description>(of).end != CUBLASLT_EPILOGUE_DEFAULT;
  last_compute = inside<description>(of).compute;
  const product p{inside<description>(of), inside<matrix>(a), inside<matrix>(b), inside<matrix>(d), left, right, to,
                  number(alpha),           number(beta)};
  return launch_host_function(stream, product::run_one, keep(p)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"

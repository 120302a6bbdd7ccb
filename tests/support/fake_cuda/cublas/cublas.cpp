// A stand-in for cuBLASLt: it multiplies on the host, in the order of the stream that it is given. It has no kernel for
// any product before a test lets it have some.
#include <cublasLt.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace {

struct description {
  cublasComputeType_t compute;
  bool transposed[2];
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

std::atomic<int> choices = 0, products = 0;
std::atomic<bool> refuses = false;
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
    const std::int64_t k = of.transposed[0] ? a.rows : a.columns;
    for (std::int64_t i = 0; i < d.rows; ++i)
      for (std::int64_t j = 0; j < d.columns; ++j) {
        T& sum = static_cast<T*>(to)[j * d.ld + i];
        T all = beta == 0 ? T(0) : static_cast<T>(beta) * sum;
        for (std::int64_t x = 0; x < k; ++x)
          all += static_cast<T>(alpha) * element<T>(left, a, of.transposed[0], i, x) *
                 element<T>(right, b, of.transposed[1], x, j);
        sum = all;
      }
  }
  static void run_one(void* self) {
    const auto* const p = static_cast<const product*>(self);
    p->a.type == CUDA_R_64F ? p->run<double>() : p->run<float>();
  }
  bool fits() const {
    const auto [left_out, left_in] = sides(a, of.transposed[0]);
    const auto [right_in, right_out] = sides(b, of.transposed[1]);
    const bool computes = (a.type == CUDA_R_64F && of.compute == CUBLAS_COMPUTE_64F) ||
                          (a.type == CUDA_R_32F && of.compute == CUBLAS_COMPUTE_32F);
    return computes && left_in == right_in && left_out == d.rows && right_out == d.columns && a.ld >= a.rows &&
           b.ld >= b.rows && d.ld >= d.rows;
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
int fake_cublas_choices() {
  return choices;
}
int fake_cublas_products() {
  return products;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int one;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t) {
  return make(made, description{compute, {false, false}});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  return destroy(made);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size) {
  if (size != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
  inside<description>(of).transposed[attribute == CUBLASLT_MATMUL_DESC_TRANSB] =
      *static_cast<const cublasOperation_t*>(value) == CUBLAS_OP_T;
  return CUBLAS_STATUS_SUCCESS;
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
  *found = is_known && !refuses && inside<preference>(wishes).workspace >= workspace;
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
  const product p{inside<description>(of), inside<matrix>(a), inside<matrix>(b), inside<matrix>(d), left, right, to,
                  number(alpha),           number(beta)};
  return launch_host_function(stream, product::run_one, keep(p)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"

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
  void* vector = nullptr;  // a bias, or sums
  void* mask = nullptr;
  std::int64_t mask_bits = 0;  // of a column

  bool transposes(int factor) const { return factors[factor] == CUBLAS_OP_T; }
  bool adds_bias() const { return end & CUBLASLT_EPILOGUE_BIAS; }
  bool is_relu() const { return end & CUBLASLT_EPILOGUE_RELU; }
  bool has_mask() const { return end & (CUBLASLT_EPILOGUE_RELU_AUX ^ CUBLASLT_EPILOGUE_RELU); }
  bool sums_result() const { return end == CUBLASLT_EPILOGUE_DRELU_BGRAD; }
  bool sums_left() const { return end & CUBLASLT_EPILOGUE_BGRADA; }
  bool sums_right() const { return end & CUBLASLT_EPILOGUE_BGRADB; }
  bool has_vector() const { return adds_bias() || sums_result() || sums_left() || sums_right(); }
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

std::atomic<int> choices = 0, products = 0, products_by_end[1024];
std::atomic<cublasComputeType_t> last_compute{};
std::atomic<bool> refuses = false, takes_maximum = false;
std::atomic<std::uint32_t> refused_ends = 0;  // bits of which none may be set
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
  std::int64_t depth() const { return of.transposes(0) ? a.rows : a.columns; }
  // The byte of a mask that tells of an element, and its bit there. Nobody but this library knows their order.
  std::uint8_t& mask_byte(std::int64_t row, std::int64_t column) const {
    return static_cast<std::uint8_t*>(of.mask)[(column * of.mask_bits + row) / 8];
  }
  static std::uint8_t mask_bit(std::int64_t row) { return static_cast<std::uint8_t>(0x80 >> row % 8); }

  template <class T>
  T ended(T sum, std::int64_t row, std::int64_t column) const {
    if (of.adds_bias()) sum += static_cast<const T*>(of.vector)[row];
    if (of.is_relu() && of.has_mask()) {
      std::uint8_t& byte = mask_byte(row, column);
      if (row % 8 == 0) byte = 0xff;
      if (takes_maximum ? !(sum < T(0)) : !(sum <= T(0))) byte = static_cast<std::uint8_t>(byte & ~mask_bit(row));
    } else if (of.has_mask() && (mask_byte(row, column) & mask_bit(row))) {
      sum = T(0);
    }
    if (of.is_relu() && takes_maximum) return sum > T(0) ? sum : T(0);
    return of.is_relu() && sum <= T(0) ? T(0) : sum;
  }
  template <class T>
  void run() const {
    for (std::int64_t j = 0; j < d.columns; ++j)
      for (std::int64_t i = 0; i < d.rows; ++i) {
        T& sum = static_cast<T*>(to)[j * d.ld + i];
        T all = beta == 0 ? T(0) : static_cast<T>(beta) * sum;
        for (std::int64_t x = 0; x < depth(); ++x)
          all += static_cast<T>(alpha) * element<T>(left, a, of.transposes(0), i, x) *
                 element<T>(right, b, of.transposes(1), x, j);
        sum = ended(all, i, j);
      }
    if (of.sums_result()) add_up<T>(d.rows, d.columns, [&](auto i, auto j) { return element<T>(to, d, false, i, j); });
    if (of.sums_left())
      add_up<T>(d.rows, depth(), [&](auto i, auto x) { return element<T>(left, a, of.transposes(0), i, x); });
    if (of.sums_right())
      add_up<T>(d.columns, depth(), [&](auto j, auto x) { return element<T>(right, b, of.transposes(1), x, j); });
  }
  template <class T, class Element>
  void add_up(std::int64_t count, std::int64_t terms, Element element) const {
    for (std::int64_t i = 0; i < count; ++i) {
      T sum = 0;
      for (std::int64_t x = 0; x < terms; ++x) sum += element(i, x);
      static_cast<T*>(of.vector)[i] = sum;
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
               has_vector = of.vector || !of.has_vector(),
               has_mask = !of.has_mask() || (of.mask && of.mask_bits % 128 == 0 && of.mask_bits >= d.rows);
    return has_vector && has_mask && (a.type == CUDA_R_64F ? is_double : is_float) && left_in == right_in &&
           left_out == d.rows && right_out == d.columns && a.ld >= a.rows && b.ld >= b.rows && d.ld >= d.rows;
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
// Its relu is a maximum, which drops NaN, and lets gradients through at 0.
void fake_cublas_take_maximum(bool does) {
  takes_maximum = does;
}
void fake_cublas_refuse_ends(std::uint32_t bits) {
  refused_ends = bits;
}
int fake_cublas_choices() {
  return choices;
}
int fake_cublas_products() {
  return products;
}
int fake_cublas_products_ended_by(std::uint32_t end) {
  return products_by_end[end];
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
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(d.vector);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return take(d.mask);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return take(d.mask_bits);
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
  const bool ends = p.of.end != CUBLASLT_EPILOGUE_DEFAULT, is_double = p.a.type == CUDA_R_64F;
  *found = is_known && !refuses && !(ends && (is_double || (p.of.end & refused_ends))) &&
           inside<preference>(wishes).workspace >= workspace;
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
  ++products_by_end[inside<description>(of).end];
  last_compute = inside<description>(of).compute;
  const product p{inside<description>(of), inside<matrix>(a), inside<matrix>(b), inside<matrix>(d), left, right, to,
                  number(alpha),           number(beta)};
  return launch_host_function(stream, product::run_one, keep(p)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"

// A stand-in for cuDNN: the functions that convolutions call, as loops of the host in the order of the stream. As in
// the tables of the library, floats may be images [n, h, w, c] with filters [out, h, w, in], and doubles are [n, c, h,
// w] with [out, in, h, w]; it refuses what is laid out otherwise, and doubles with holes in their windows.
//
// A program that does not export the stand-in's cudaLaunchHostFunc gets no handle, and convolves without the library.
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

extern "C" __attribute__((weak)) cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);

struct cudnnContext {
  cudaStream_t stream;
};
// Images, and filters, of which there are n.
struct laid_out {
  int n, c, h, w;
  bool doubles;

  cudnnStatus_t set(cudnnTensorFormat_t format, cudnnDataType_t type, int count, int channels, int height, int width) {
    n = count, c = channels, h = height, w = width, doubles = type == CUDNN_DATA_DOUBLE;
    return (type == CUDNN_DATA_FLOAT && format == CUDNN_TENSOR_NHWC) || (doubles && format == CUDNN_TENSOR_NCHW)
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_NOT_SUPPORTED;
  }
  int at(int image, int channel, int row, int column) const {
    return doubles ? ((image * c + channel) * h + row) * w + column : ((image * h + row) * w + column) * c + channel;
  }
  std::size_t size() const {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(c * h) * static_cast<std::size_t>(w);
  }
};
struct cudnnTensorStruct : laid_out {};
struct cudnnFilterStruct : laid_out {};
struct cudnnConvolutionStruct {
  int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
  cudnnMathType_t math;
};

namespace {

std::atomic<int> calls{0};
std::atomic<cudnnMathType_t> last_math{};

// The extents of a convolution, and its places.
struct extents {
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct by;

  static int outputs(int image, int pad, int places, int stride, int dilation) {
    return (image + 2 * pad - (places - 1) * dilation - 1) / stride + 1;
  }
  bool fit() const {
    if (x.doubles && (by.dilation_h > 1 || by.dilation_w > 1)) return false;
    return x.n == y.n && x.c == w.c && y.c == w.n && y.h == outputs(x.h, by.pad_h, w.h, by.stride_h, by.dilation_h) &&
           y.w == outputs(x.w, by.pad_w, w.w, by.stride_w, by.dilation_w);
  }
  // Calls f(offset in x, in the filters, in y) for each product.
  template <class F>
  void for_each_product(F f) const {
    for (int n = 0; n < y.n; ++n)
      for (int i = 0; i < y.h; ++i)
        for (int j = 0; j < y.w; ++j)
          for (int p = 0; p < w.h; ++p)
            for (int q = 0; q < w.w; ++q) {
              const int row = i * by.stride_h - by.pad_h + p * by.dilation_h,
                        column = j * by.stride_w - by.pad_w + q * by.dilation_w;
              if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
              for (int c = 0; c < x.c; ++c)
                for (int k = 0; k < w.n; ++k) f(x.at(n, c, row, column), w.at(k, c, p, q), y.at(n, k, i, j));
            }
  }
};

// Adds products up at a result; the three numbers say which operand of for_each_product() each is.
template <class T, int Result, int Left, int Right>
void add_up(const extents& e, std::size_t count, T* result, const T* left, const T* right) {
  std::fill_n(result, count, T(0));
  e.for_each_product([&](auto... at) {
    const int places[]{at...};
    result[places[Result]] += left[places[Left]] * right[places[Right]];
  });
}

template <int Result, int Left, int Right>
cudnnStatus_t enqueue(cudnnHandle_t handle, const extents& e, int algorithm, std::size_t workspace, std::size_t count,
                      void* result, const void* left, const void* right) {
  if (algorithm != 1 || workspace != 64 || !e.fit()) return CUDNN_STATUS_BAD_PARAM;
  ++calls;
  last_math = e.by.math;
  const auto work = [=] {
    if (e.x.doubles)
      add_up<double, Result, Left, Right>(e, count, static_cast<double*>(result), static_cast<const double*>(left),
                                          static_cast<const double*>(right));
    else
      add_up<float, Result, Left, Right>(e, count, static_cast<float*>(result), static_cast<const float*>(left),
                                         static_cast<const float*>(right));
  };
  const auto run = [](void* body) {
    const auto* const work = static_cast<std::function<void()>*>(body);
    (*work)();
    delete work;
  };
  const cudaError_t failed = cudaLaunchHostFunc(handle->stream, run, new std::function<void()>(work));
  return failed ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS;
}

// Three algorithms, the fastest first: one whose results differ from run to run, one that computes in 16 bits, and one
// that a convolution takes. Where floats may be rounded, the last one wants it in a word of its own.
template <class Found>
cudnnStatus_t give_algorithms(const extents& e, int most, int* count, Found* found) {
  if (!e.fit() || most < 3) return CUDNN_STATUS_BAD_PARAM;
  const cudnnMathType_t math = e.by.math == CUDNN_FMA_MATH ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  const cudnnMathType_t maths[] = {math, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, math};
  const int numbers[] = {0, 2, 1};
  for (int i = 0; i < 3; ++i) {
    found[i] = {};
    found[i].status = CUDNN_STATUS_SUCCESS;
    found[i].memory = 64;
    found[i].determinism = i == 0 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
    found[i].mathType = maths[i];
    found[i].algo = static_cast<decltype(found[i].algo)>(numbers[i]);
  }
  *count = 3;
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
cudnnStatus_t make(T** made) {
  *made = new T{};
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t destroy(T* made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

// The convolutions that this library has run.
int fake_cudnn_calls() {
  return calls;
}
// The kind of math of the last one.
cudnnMathType_t fake_cudnn_last_math() {
  return last_math;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return cudaLaunchHostFunc ? make(handle) : CUDNN_STATUS_NOT_INITIALIZED;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) {
  return make(made);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t made) {
  return destroy(made);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t t, cudnnTensorFormat_t format, cudnnDataType_t type,
                                         int n, int c, int h, int w) {
  return t->set(format, type, n, c, h, w);
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) {
  return make(made);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t made) {
  return destroy(made);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t f, cudnnDataType_t type, cudnnTensorFormat_t format,
                                         int k, int c, int h, int w) {
  return f->set(format, type, k, c, h, w);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
  return make(made);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t made) {
  return destroy(made);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t c, int pad_h, int pad_w, int stride_h,
                                              int stride_w, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  *c = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, CUDNN_DEFAULT_MATH};
  return mode == CUDNN_CROSS_CORRELATION ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t c, cudnnMathType_t math) {
  c->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t by,
                                                     const cudnnTensorDescriptor_t y, const int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  return give_algorithms({*x, *y, *w, *by}, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, const cudnnFilterDescriptor_t w,
                                                          const cudnnTensorDescriptor_t dy,
                                                          const cudnnConvolutionDescriptor_t by,
                                                          const cudnnTensorDescriptor_t dx, const int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return give_algorithms({*dx, *dy, *w, *by}, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t dy,
                                                            const cudnnConvolutionDescriptor_t by,
                                                            const cudnnFilterDescriptor_t dw, const int most,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return give_algorithms({*x, *dy, *dw, *by}, most, count, found);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, const cudnnTensorDescriptor_t x_desc,
                                      const void* x, const cudnnFilterDescriptor_t w_desc, const void* w,
                                      const cudnnConvolutionDescriptor_t by, cudnnConvolutionFwdAlgo_t algo, void*,
                                      std::size_t bytes, const void*, const cudnnTensorDescriptor_t y_desc, void* y) {
  const extents e{*x_desc, *y_desc, *w_desc, *by};
  return enqueue<2, 0, 1>(handle, e, algo, bytes, e.y.size(), y, x, w);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*, const cudnnFilterDescriptor_t w_desc,
                                           const void* w, const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           const cudnnConvolutionDescriptor_t by, cudnnConvolutionBwdDataAlgo_t algo,
                                           void*, std::size_t bytes, const void*, const cudnnTensorDescriptor_t dx_desc,
                                           void* dx) {
  const extents e{*dx_desc, *dy_desc, *w_desc, *by};
  return enqueue<0, 2, 1>(handle, e, algo, bytes, e.x.size(), dx, dy, w);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*, const cudnnTensorDescriptor_t x_desc,
                                             const void* x, const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const cudnnConvolutionDescriptor_t by,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void*, std::size_t bytes,
                                             const void*, const cudnnFilterDescriptor_t dw_desc, void* dw) {
  const extents e{*x_desc, *dy_desc, *dw_desc, *by};
  return enqueue<1, 0, 2>(handle, e, algo, bytes, e.w.size(), dw, x, dy);
}

}  // extern "C"

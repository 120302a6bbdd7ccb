// Convolutions of GPUs by cuDNN, which is opened when the first kernel of a convolution is made.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include <pinion/base/dtype.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/device/cuda/shared_library.hpp>
#include <pinion/device/device.hpp>
#include <pinion/op/conv/cuda_kernels.hpp>
#include <pinion/op/conv/geometry.hpp>

#if PINION_HAS_CUDA && __has_include(<cudnn.h>)
#include <cuda_runtime_api.h>
#include <cudnn.h>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The functions of cuDNN, of the version whose header was compiled in. They are there all, or none is used.
struct cudnn_functions {
  // Its parts open NVRTC by its bare name, and find it open wherever that lies.
  const cuda::compiler& opens = cuda::compiler::of_this_program();
  const cuda::shared_library library{{"libcudnn.so." + std::to_string(CUDNN_MAJOR)}};
#define PINION_CUDNN(function) \
  decltype(&::cudnn##function) function = library.symbol<decltype(::cudnn##function)>("cudnn" #function)
  PINION_CUDNN(Create);
  PINION_CUDNN(SetStream);
  PINION_CUDNN(CreateTensorDescriptor);
  PINION_CUDNN(DestroyTensorDescriptor);
  PINION_CUDNN(SetTensor4dDescriptor);
  PINION_CUDNN(CreateFilterDescriptor);
  PINION_CUDNN(DestroyFilterDescriptor);
  PINION_CUDNN(SetFilter4dDescriptor);
  PINION_CUDNN(CreateConvolutionDescriptor);
  PINION_CUDNN(DestroyConvolutionDescriptor);
  PINION_CUDNN(SetConvolution2dDescriptor);
  PINION_CUDNN(SetConvolutionMathType);
  PINION_CUDNN(GetConvolutionForwardAlgorithm_v7);
  PINION_CUDNN(GetConvolutionBackwardDataAlgorithm_v7);
  PINION_CUDNN(GetConvolutionBackwardFilterAlgorithm_v7);
  PINION_CUDNN(ConvolutionForward);
  PINION_CUDNN(ConvolutionBackwardData);
  PINION_CUDNN(ConvolutionBackwardFilter);
#undef PINION_CUDNN

  bool are_there() const {
    return Create && SetStream && CreateTensorDescriptor && DestroyTensorDescriptor && SetTensor4dDescriptor &&
           CreateFilterDescriptor && DestroyFilterDescriptor && SetFilter4dDescriptor && CreateConvolutionDescriptor &&
           DestroyConvolutionDescriptor && SetConvolution2dDescriptor && SetConvolutionMathType &&
           GetConvolutionForwardAlgorithm_v7 && GetConvolutionBackwardDataAlgorithm_v7 &&
           GetConvolutionBackwardFilterAlgorithm_v7 && ConvolutionForward && ConvolutionBackwardData &&
           ConvolutionBackwardFilter;
  }
};

// All that the choice of a convolution's kernel depends on, beside the GPU. The padding after an image is that before
// it.
struct cudnn_convolution {
  conv_pass pass;
  dtype type;
  cuda::image_extents of;
  product_precision precision;

  auto key() const {
    const auto axis = [](const cuda::image_axis& a) {
      return std::array{a.image, a.windows, a.places, a.stride, a.dilation, a.before};
    };
    return std::tuple(pass, type, of.images, of.channels, of.filters, axis(of.height), axis(of.width), precision);
  }
  // The library counts in int.
  bool fits() const {
    for (const std::int64_t n : {of.images, of.channels, of.filters, of.height.image, of.width.image, of.height.windows,
                                 of.width.windows, of.height.before, of.width.before})
      if (n > INT_MAX) return false;
    return true;
  }
};

// A convolution of some extents in the words of the library, and the algorithm that it chose: one whose results have
// the same bits in every run. Images are [n, h, w, c] and filters [out, h, w, in]; of doubles, for which the library
// has no algorithm in that layout, they are [n, c, h, w] and [out, in, h, w]. Immutable; several threads may run it,
// each with the handle to itself.
class cudnn_plan {
 public:
  static constexpr std::size_t most_workspace = 256 << 20;

  cudnn_plan(const cudnn_functions& f, cudnnHandle_t handle, const cudnn_convolution& c)
      : f_(f),
        handle_(handle),
        pass_(c.pass),
        is_exact_(c.type == dtype::float64 || c.precision == product_precision::full),
        images_(tensor(c.type, c.of.images, c.of.channels, c.of.height.image, c.of.width.image)),
        windows_(tensor(c.type, c.of.images, c.of.filters, c.of.height.windows, c.of.width.windows)),
        filters_(nullptr, f.DestroyFilterDescriptor),
        convolution_(nullptr, f.DestroyConvolutionDescriptor) {
    set_filters(c);
    set_convolution(c);
    if (is_good_) choose();
  }
  cudnn_plan(const cudnn_plan&) = delete;

  // True if the library has an algorithm for the convolution.
  bool is_good() const { return is_good_; }
  // The number of the algorithm, of the enumeration of its pass.
  int algorithm() const { return algorithm_; }
  // The bytes of memory that a run needs beside its operands.
  std::size_t workspace() const { return workspace_; }
  // Enqueues a run; the operands are those of the pass. Returns false where the library refuses.
  template <class T>
  bool run(devices::cuda_stream stream, const T* a, const T* b, T* y, void* workspace) const {
    const T one = 1, zero = 0;
    if (f_.SetStream(handle_, stream) != CUDNN_STATUS_SUCCESS) return false;
    const bool is_done = enqueue(a, b, y, &one, &zero, workspace) == CUDNN_STATUS_SUCCESS;
    f_.SetStream(handle_, nullptr);  // a stream that records goes when its recording ends
    return is_done;
  }

 private:
  template <class Opaque>
  using owner = std::unique_ptr<Opaque, cudnnStatus_t (*)(Opaque*)>;

  static cudnnTensorFormat_t layout(dtype type) {
    return type == dtype::float64 ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
  }
  static cudnnDataType_t data_type(dtype type) { return type == dtype::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }
  void succeed(cudnnStatus_t status) { is_good_ &= status == CUDNN_STATUS_SUCCESS; }

  owner<cudnnTensorStruct> tensor(dtype type, std::int64_t n, std::int64_t channels, std::int64_t height,
                                  std::int64_t width) {
    cudnnTensorDescriptor_t made = nullptr;
    succeed(f_.CreateTensorDescriptor(&made));
    if (is_good_)
      succeed(f_.SetTensor4dDescriptor(made, layout(type), data_type(type), int(n), int(channels), int(height),
                                       int(width)));
    return {made, f_.DestroyTensorDescriptor};
  }
  void set_filters(const cudnn_convolution& c) {
    cudnnFilterDescriptor_t made = nullptr;
    succeed(f_.CreateFilterDescriptor(&made));
    filters_.reset(made);
    if (is_good_)
      succeed(f_.SetFilter4dDescriptor(made, data_type(c.type), layout(c.type), int(c.of.filters), int(c.of.channels),
                                       int(c.of.height.places), int(c.of.width.places)));
  }
  void set_convolution(const cudnn_convolution& c) {
    const cuda::image_axis &h = c.of.height, &w = c.of.width;
    cudnnConvolutionDescriptor_t made = nullptr;
    succeed(f_.CreateConvolutionDescriptor(&made));
    convolution_.reset(made);
    if (!is_good_) return;
    succeed(f_.SetConvolution2dDescriptor(made, int(h.before), int(w.before), int(h.stride), int(w.stride),
                                          int(h.dilation), int(w.dilation), CUDNN_CROSS_CORRELATION,
                                          data_type(c.type)));
    succeed(f_.SetConvolutionMathType(made, is_exact_ ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH));
  }
  // The library has a kind of math, too, that rounds floats to 16 bits.
  bool is_precise(cudnnMathType_t math) const {
    return math == CUDNN_FMA_MATH || math == CUDNN_DEFAULT_MATH || (math == CUDNN_TENSOR_OP_MATH && !is_exact_);
  }

  void choose() {
    switch (pass_) {
      case conv_pass::forward:
        return choose_of<cudnnConvolutionFwdAlgoPerf_t>([this](int most, int* count, auto* found) {
          return f_.GetConvolutionForwardAlgorithm_v7(handle_, images_.get(), filters_.get(), convolution_.get(),
                                                      windows_.get(), most, count, found);
        });
      case conv_pass::by_images:
        return choose_of<cudnnConvolutionBwdDataAlgoPerf_t>([this](int most, int* count, auto* found) {
          return f_.GetConvolutionBackwardDataAlgorithm_v7(handle_, filters_.get(), windows_.get(), convolution_.get(),
                                                           images_.get(), most, count, found);
        });
      case conv_pass::by_filters:
        return choose_of<cudnnConvolutionBwdFilterAlgoPerf_t>([this](int most, int* count, auto* found) {
          return f_.GetConvolutionBackwardFilterAlgorithm_v7(handle_, images_.get(), windows_.get(), convolution_.get(),
                                                             filters_.get(), most, count, found);
        });
    }
  }
  // Takes the best one of the algorithms that a function finds.
  template <class Found, class Find>
  void choose_of(Find find) {
    std::array<Found, 16> found{};
    int count = 0;
    succeed(find(static_cast<int>(found.size()), &count, found.data()));
    const auto good = std::find_if(found.begin(), found.begin() + (is_good_ ? count : 0), [this](const Found& f) {
      return f.status == CUDNN_STATUS_SUCCESS && f.determinism == CUDNN_DETERMINISTIC && f.memory <= most_workspace &&
             is_precise(f.mathType);
    });
    is_good_ = is_good_ && good != found.begin() + count;
    if (!is_good_) return;
    algorithm_ = static_cast<int>(good->algo);
    workspace_ = good->memory;
    if (!is_exact_) succeed(f_.SetConvolutionMathType(convolution_.get(), good->mathType));
  }

  cudnnStatus_t enqueue(const void* a, const void* b, void* y, const void* one, const void* zero,
                        void* workspace) const {
    switch (pass_) {
      case conv_pass::forward:
        return f_.ConvolutionForward(handle_, one, images_.get(), a, filters_.get(), b, convolution_.get(),
                                     static_cast<cudnnConvolutionFwdAlgo_t>(algorithm_), workspace, workspace_, zero,
                                     windows_.get(), y);
      case conv_pass::by_images:
        return f_.ConvolutionBackwardData(handle_, one, filters_.get(), b, windows_.get(), a, convolution_.get(),
                                          static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm_), workspace, workspace_,
                                          zero, images_.get(), y);
      default:
        return f_.ConvolutionBackwardFilter(handle_, one, images_.get(), a, windows_.get(), b, convolution_.get(),
                                            static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm_), workspace,
                                            workspace_, zero, filters_.get(), y);
    }
  }

  const cudnn_functions& f_;
  const cudnnHandle_t handle_;
  const conv_pass pass_;
  const bool is_exact_;  // otherwise floats may be rounded to TF32, which the library's default math does
  bool is_good_ = true;
  const owner<cudnnTensorStruct> images_, windows_;
  owner<cudnnFilterStruct> filters_;
  owner<cudnnConvolutionStruct> convolution_;
  int algorithm_ = 0;
  std::size_t workspace_ = 0;
};

// The library, as this process uses it, with the algorithms that it chose. Thread-safe.
class cudnn_library {
 public:
  bool is_there() const { return functions_.are_there(); }
  // The plan of a convolution on the GPU of the calling thread; null where the library is missing or has none for it.
  std::shared_ptr<const cudnn_plan> find(const cudnn_convolution& c) {
    int gpu = 0;
    if (!functions_.are_there() || !c.fits() || cudaGetDevice(&gpu) != cudaSuccess) return nullptr;
    std::lock_guard hold(mutex_);
    const auto [at, is_new] = gpus_.try_emplace(gpu);
    on_gpu& here = at->second;
    if (is_new && functions_.Create(&here.handle) != CUDNN_STATUS_SUCCESS) here.handle = nullptr;
    if (!here.handle) return nullptr;
    if (here.plans.size() >= most_plans) here.plans.clear();
    auto& plan = here.plans[c.key()];
    if (!plan) plan = std::make_shared<const cudnn_plan>(functions_, here.handle, c);
    return plan->is_good() ? plan : nullptr;
  }
  // Runs a plan with the handle to itself, since a handle has one stream at a time.
  template <class... Arguments>
  bool run(const cudnn_plan& plan, Arguments... arguments) {
    std::lock_guard hold(mutex_);
    return plan.run(arguments...);
  }

 private:
  static constexpr std::size_t most_plans = 1024;
  struct on_gpu {
    cudnnHandle_t handle = nullptr;
    std::map<decltype(std::declval<cudnn_convolution>().key()), std::shared_ptr<const cudnn_plan>> plans;
  };

  const cudnn_functions functions_{};
  std::mutex mutex_;
  std::map<int, on_gpu> gpus_;
};

inline cudnn_library& convolutions_library() {
  return of_this_process<cudnn_library>();
}

}}}}  // namespace pinion::v0::op::detail
#endif

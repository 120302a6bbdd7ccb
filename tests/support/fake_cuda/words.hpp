// CUDA C as C++ for the host, kernels and their launches: forced into a .cu unit by -include, beside NVIDIA's headers.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "kernel_words.hpp"

namespace fake_cuda {

// Puts a grid into a stream. `thread` is what each thread does.
cudaError_t launch(const cudaLaunchConfig_t& how, std::function<void()> thread);

// NVIDIA's template of this name hands on the addresses of the arguments without their sizes. They are copied at the
// call.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(const cudaLaunchConfig_t* how, void (*kernel)(Parameters...), Arguments&&... arguments) {
  return launch(*how, std::bind(kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace fake_cuda

#define cudaLaunchKernelEx ::fake_cuda::launch_kernel

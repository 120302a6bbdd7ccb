// CUDA C as C++ for the host, kernels and their launches: forced into a .cu unit by -include, beside NVIDIA's headers.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <type_traits>
#include <vector>

#include "kernel_words.hpp"

namespace fake_cuda {

// Puts a grid into a stream. `thread` is what each thread does; `addresses` are those among the kernel's arguments,
// which must be of memory that the device reaches.
cudaError_t launch(const cudaLaunchConfig_t& how, std::function<void()> thread,
                   const std::vector<const void*>& addresses);

template <class T>
void add_address(std::vector<const void*>& addresses, const T& argument) {
  if constexpr (std::is_pointer_v<T>) addresses.push_back(argument);
}

// NVIDIA's template of this name hands on the addresses of the arguments without their sizes. They are copied at the
// call.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(const cudaLaunchConfig_t* how, void (*kernel)(Parameters...), Arguments&&... arguments) {
  std::vector<const void*> addresses;
  (add_address<Parameters>(addresses, arguments), ...);
  return launch(*how, std::bind(kernel, static_cast<Parameters>(arguments)...), addresses);
}

}  // namespace fake_cuda

#define cudaLaunchKernelEx ::fake_cuda::launch_kernel

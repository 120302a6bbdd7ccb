// The CUDA kernels of the library's ops, in one table built from the catalogue.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// The maker of the CUDA kernel of an op of the library; null: it has none, since its kernel of hosts launches nothing
// or since it never runs on a GPU.
kernel_maker cuda_kernel_of(std::string_view op);

// The libraries of NVIDIA that kernels on GPUs find, by the names that definitions give them; "NVRTC" is the compiler.
// It opens them, as making a kernel does.
std::vector<std::string> open_gpu_libraries();

// Makes the code that kernels on a GPU have announced, all of it together; `threads` help. What fails is told where a
// kernel asks for its code. A device that is no GPU of CUDA has none.
void make_announced_code(devices::device& on, thread_pool* threads);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/cuda_kernels.ipp>
#endif

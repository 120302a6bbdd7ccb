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

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/cuda_kernels.ipp>
#endif

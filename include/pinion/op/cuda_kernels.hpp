// The CUDA kernels of the library's ops, in one table built from the catalogue.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// The maker of the CUDA kernel of an op of the library; null: it has none, since its kernel of hosts launches nothing
// or since it never runs on a GPU.
kernel_maker cuda_kernel_of(std::string_view op);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/cuda_kernels.ipp>
#endif

// The part of pinion::compiled that holds the bodies of device/cuda, and the CUDA kernels' host code.
#include <pinion/base/config.hpp>

#if PINION_HAS_CUDA
#include <pinion/device/cuda/card.ipp>
#include <pinion/device/cuda/code_cache.ipp>
#include <pinion/device/cuda/compiler.ipp>
#include <pinion/device/cuda/device.ipp>
#include <pinion/device/cuda/kernel_store.ipp>
#include <pinion/device/cuda/memory.ipp>
#include <pinion/device/cuda/stream.ipp>
#include <pinion/op/cuda_kernels.ipp>
#endif

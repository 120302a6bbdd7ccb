// The header of a unit that nvcc compiles: graphs, sessions and own ops. It is without servers, which cost time to
// compile; a unit that needs them includes pinion/pinion.hpp as well.
//
// The unit belongs to a program of pinion::compiled, and CMake's pinion_cuda_sources(target FILE...) gives nvcc the
// options that pinion's headers need. An own op launches its kernels there:
//
//   struct doubled {
//     ...                                                       // name, inputs, kernels, infer: see register_op
//     static void cuda(pn::kernel_context& c, cudaStream_t on) {
//       const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
//       twice<<<64, 256, 0, on>>>(x.data<float>(), y.data<float>(), x.count());
//     }
//   };
//
// Elementwise expressions of the unit have kernels in its object, which run on GPUs of CMAKE_CUDA_ARCHITECTURES without
// NVRTC. Files that the C++ compiler reads need nothing beyond pinion.hpp.
#pragma once

#include <pinion/session.hpp>

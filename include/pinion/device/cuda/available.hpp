// Tells whether a program has a GPU of NVIDIA's.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Returns true if the library was built with CUDA, and this machine has a driver and shows the program a GPU. A session
// or server then has devices /gpu:0 and on, unless its options choose none or simulated ones. It makes no context, and
// never throws. Thread-safe.
//
//   const pn::device on(pn::cuda_available() ? "/gpu:0" : "/cpu:0");
bool cuda_available();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/available.ipp>
#endif

// Work of variables on GPUs, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// Copies bytes within the memory of a GPU. Throws std::runtime_error where CUDA refuses.
void copy_bytes(CUstream_st* stream, void* to, const void* from, std::size_t bytes);

}}}  // namespace pinion::v0::cuda

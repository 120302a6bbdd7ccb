// Small work on a GPU's memory that a step does beside its kernels, in the order of the GPU's stream. A build without
// CUDA has no GPU, and does nothing here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <pinion/device/cuda/bytes_copy.hpp>
#include <pinion/device/cuda/first_wrong.hpp>
#include <pinion/device/device.hpp>
#if PINION_HAS_CUDA
#include <pinion/op/source/cuda_kernels.hpp>
#include <pinion/op/variable/cuda_kernels.hpp>
#endif

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

#if PINION_HAS_CUDA
inline void copy_each(devices::device& on, std::span<const cuda::bytes_copy> all) {
  cuda::copy_each(on.stream()->native(), all);
}

// Writes to places for wrong values that they hold none.
inline void clear_places(devices::device& on, cuda::first_wrong* places, std::size_t n) {
  static_assert(sizeof(cuda::first_wrong) == 2 * sizeof(std::int64_t));
  cuda::fill(on.stream()->native(), reinterpret_cast<std::int64_t*>(places), static_cast<std::int64_t>(2 * n),
             std::int64_t{-1});
}
// Notes in `to` a wrong value if one of the places has one.
inline void note_any_wrong(devices::device& on, cuda::first_wrong* to, const cuda::wrong_places& of) {
  cuda::note_any_wrong(on.stream()->native(), to, of);
}

inline void write_words(devices::device& on, std::uint64_t* to, std::span<const std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); i += cuda::most_given)
    cuda::write_given(on.stream()->native(), to + i,
                      static_cast<int>(std::min<std::size_t>(cuda::most_given, words.size() - i)), words.data() + i);
}
#else
inline void copy_each(devices::device&, std::span<const cuda::bytes_copy>) {}
inline void clear_places(devices::device&, cuda::first_wrong*, std::size_t) {}
inline void note_any_wrong(devices::device&, cuda::first_wrong*, const cuda::wrong_places&) {}
inline void write_words(devices::device&, std::uint64_t*, std::span<const std::uint64_t>) {}
#endif

}}}}  // namespace pinion::v0::runtime::detail

// The walk of CUDA kernels over axes with steps, and the words that they move. Nothing here knows the rest of pinion.
#pragma once

#include <algorithm>
#include <cstdint>

#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/layout/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A word of 16 bytes, which one access moves.
struct alignas(16) wide_word {
  std::uint32_t part[4];
};

// The words that one thread has under way at a time.
template <class Word>
inline constexpr int words_at_once = sizeof(Word) > 8 ? 2 : 4;

// Calls f.operator()<Word>() with a word of so many bytes.
template <class F>
void visit_word(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return f.template operator()<wide_word>();
  }
}

// Calls f.operator()<Index>() with a type that counts to n, and is divided fast if it can be.
template <class F>
void visit_index(std::int64_t n, F&& f) {
  return is_short(n) ? f.template operator()<std::uint32_t>() : f.template operator()<std::uint64_t>();
}

// The elements that make one word of at most 16 bytes, where each of the given numbers of elements is a number of
// words.
class word_width {
 public:
  explicit word_width(int element_bytes) : most_(16 / element_bytes), bytes_(element_bytes) {}
  void divides(std::int64_t elements) {
    while (elements % most_) most_ /= 2;
  }
  void divides(const void* address) {
    while (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(most_ * bytes_)) most_ /= 2;
  }
  int elements() const { return most_; }
  int bytes() const { return most_ * bytes_; }

 private:
  int most_, bytes_;
};

struct strided_place {
  std::int64_t from, to;
};

// A row-major walk: the places of its element i in the source and in the result.
template <class Index>
struct strided_walk {
  struct axis {
    divisor<Index> extent;
    std::int64_t from, to;
  };
  int rank = 0;
  axis axes[most_strided_axes]{};  // innermost first

  strided_walk(const strided_axis* given, int given_rank) : rank(given_rank) {
    for (int i = 0; i < rank; ++i) {
      const strided_axis& a = given[rank - 1 - i];
      axes[i] = {divisor<Index>(a.extent), a.from, a.to};
    }
  }
  __device__ strided_place at(Index i) const {
    strided_place p{0, 0};
    for (int k = 0; k + 1 < rank; ++k) {
      const Index rest = axes[k].extent.quotient(i);
      const auto index = static_cast<std::int64_t>(i - rest * axes[k].extent.by);
      p.from += index * axes[k].from;
      p.to += index * axes[k].to;
      i = rest;
    }
    if (rank == 0) return p;
    const auto index = static_cast<std::int64_t>(i);
    return {p.from + index * axes[rank - 1].from, p.to + index * axes[rank - 1].to};
  }
};

inline std::int64_t count_of(const strided_axis* axes, int rank) {
  std::int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= axes[i].extent;
  return n;
}

// The least rank of a walk over the same elements: axes of extent 1 are dropped, and neighbours merged.
inline int merge_axes(strided_axis* axes, int rank) {
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    const strided_axis a = axes[i];
    if (a.extent == 1) continue;
    strided_axis* const outer = kept > 0 ? axes + kept - 1 : nullptr;
    if (outer && outer->from == a.extent * a.from && outer->to == a.extent * a.to)
      *outer = {outer->extent * a.extent, a.from, a.to};
    else
      axes[kept++] = a;
  }
  return kept;
}

}}}  // namespace pinion::v0::cuda

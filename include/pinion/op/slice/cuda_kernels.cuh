// Bodies of <pinion/op/slice/cuda_kernels.hpp>.
#pragma once

#include <algorithm>
#include <cstring>

#include <pinion/device/cuda/parts.cuh>
#include <pinion/op/layout/cuda_walk.cuh>
#include <pinion/op/slice/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- a tensor inside a larger one

// The way from an element of the whole to the one inside.
template <class Index>
struct padded_walk {
  struct axis {
    divisor<Index> whole;
    std::int64_t inside, before;
  };
  int rank = 0;
  axis axes[most_padded_axes]{};  // innermost first

  padded_walk(const padded_axis* given, int given_rank) : rank(given_rank) {
    for (int i = 0; i < rank; ++i) {
      const padded_axis& a = given[rank - 1 - i];
      axes[i] = {divisor<Index>(a.whole), a.inside, a.before};
    }
  }
  // The element inside; -1: there is none.
  __device__ std::int64_t at(Index i) const {
    std::int64_t from = 0, step = 1;
    for (int k = 0; k < rank; ++k) {
      const Index rest = axes[k].whole.quotient(i);
      const std::int64_t index = static_cast<std::int64_t>(i - rest * axes[k].whole.by) - axes[k].before;
      if (index < 0 || index >= axes[k].inside) return -1;
      from += index * step;
      step *= axes[k].inside;
      i = rest;
    }
    return from;
  }
};

template <class Word, class Index>
__global__ void pad_words(const Word* x, Word* y, padded_walk<Index> walk, Index n, Word around) {
  constexpr int each = words_at_once<Word>;
  const Index step = gridDim.x * blockDim.x * each;
  for (Index first = blockIdx.x * blockDim.x * each + threadIdx.x; first < n; first += step) {
    Word held[each];
    for (int k = 0; k < each; ++k) {
      const Index i = first + static_cast<Index>(k) * blockDim.x;
      const std::int64_t from = i < n ? walk.at(i) : -1;
      held[k] = from < 0 ? around : x[from];
    }
    for (int k = 0; k < each; ++k) {
      const Index i = first + static_cast<Index>(k) * blockDim.x;
      if (i < n) y[i] = held[k];
    }
  }
}

// Merges axes that have nothing around them into those before.
inline int merge_padded(const padded_axis* axes, int rank, padded_axis* merged) {
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    const padded_axis a = axes[i];
    padded_axis* const outer = kept > 0 ? merged + kept - 1 : nullptr;
    if (outer && a.whole == a.inside)
      *outer = {outer->whole * a.whole, outer->inside * a.whole, outer->before * a.whole};
    else
      merged[kept++] = a;
  }
  return kept;
}

// A word of equal elements.
template <class Word>
Word repeated(const void* element, int bytes) {
  Word word;
  for (std::size_t at = 0; at < sizeof word; at += static_cast<std::size_t>(bytes))
    std::memcpy(reinterpret_cast<char*>(&word) + at, element, static_cast<std::size_t>(bytes));
  return word;
}

void pad(CUstream_st* stream, const void* from, void* to, int element_bytes, const padded_axis* axes, int rank,
         const void* around) {
  padded_axis merged[most_padded_axes];
  const int kept = merge_padded(axes, rank, merged);
  word_width width(element_bytes);
  width.divides(from);
  width.divides(to);
  std::int64_t n = 1;
  for (int i = 0; i < kept; ++i) n *= merged[i].whole;
  if (n == 0) return;
  if (kept > 0) {
    padded_axis& last = merged[kept - 1];
    for (std::int64_t* of : {&last.whole, &last.inside, &last.before}) width.divides(*of);
    for (std::int64_t* of : {&n, &last.whole, &last.inside, &last.before}) *of /= width.elements();
  } else {
    width.divides(std::int64_t{1});
  }
  visit_word(width.bytes(), [&]<class Word>() {
    visit_index(n, [&]<class Index>() {
      launch(stream, pad_words<Word, Index>, blocks_for((n - 1) / words_at_once<Word> + 1), threads_of_block,
             static_cast<const Word*>(from), static_cast<Word*>(to), padded_walk<Index>(merged, kept),
             static_cast<Index>(n), repeated<Word>(around, element_bytes));
    });
  });
}

// ---- sums of tiles

// The elements of one tile and the tiles, as walks over the tensor of tiles.
struct tile_axes {
  strided_axis elements[most_padded_axes], tiles[most_padded_axes];
  int element_rank = 0, tile_rank = 0;

  tile_axes(const tiled_axis* axes, int rank) {
    std::int64_t step = 1, element = 1, tile = 1;
    for (int i = rank; i-- > 0;) {
      elements[i] = {axes[i].extent, step, element};
      tiles[i] = {axes[i].multiple, step * axes[i].extent, tile};
      step *= axes[i].extent * axes[i].multiple;
      element *= axes[i].extent;
      tile *= axes[i].multiple;
    }
    element_rank = merge_axes(elements, rank);
    tile_rank = merge_axes(tiles, rank);
  }
  std::int64_t element_count() const { return count_of(elements, element_rank); }
  std::int64_t tile_count() const { return count_of(tiles, tile_rank); }
  // The parts in which the tiles are summed where there are few elements.
  std::int64_t parts() const {
    constexpr std::int64_t enough_threads = 1 << 15, most = 1024, tiles_of_part = 16;
    const std::int64_t wanted = std::min(enough_threads / std::max<std::int64_t>(1, element_count()), most);
    return std::max<std::int64_t>(1, std::min(wanted, tile_count() / tiles_of_part));
  }
};

// Thread p * elements + e adds up tiles p, p + parts, ... of element e.
template <class T, class Index>
__global__ void sum_tile_parts(const T* dy, T* sums, strided_walk<Index> elements, strided_walk<Index> tiles,
                               divisor<Index> element_count, Index tile_count, Index parts) {
  const Index n = parts * element_count.by, step = gridDim.x * blockDim.x;
  for (Index i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const Index part = element_count.quotient(i), element = i - part * element_count.by;
    const T* const from = dy + elements.at(element).from;
    T sum = 0;
    for (Index t = part; t < tile_count; t += parts) sum += from[tiles.at(t).from];
    sums[i] = sum;
  }
}

std::size_t sum_tiles_scratch(const tiled_axis* axes, int rank, int element_bytes) {
  const tile_axes a(axes, rank);
  return a.parts() == 1 ? 0 : static_cast<std::size_t>(a.parts() * a.element_count() * element_bytes);
}

template <class T>
void sum_tiles(CUstream_st* stream, const T* tiles, T* to, const tiled_axis* axes, int rank, void* scratch) {
  const tile_axes a(axes, rank);
  const std::int64_t n = a.element_count(), parts = a.parts();
  if (n == 0) return;
  T* const sums = parts == 1 ? to : static_cast<T*>(scratch);
  visit_index(std::max(n * parts, a.tile_count() + parts), [&]<class Index>() {
    launch(stream, sum_tile_parts<T, Index>, blocks_for(n * parts), threads_of_block, tiles, sums,
           strided_walk<Index>(a.elements, a.element_rank), strided_walk<Index>(a.tiles, a.tile_rank),
           divisor<Index>(n), static_cast<Index>(a.tile_count()), static_cast<Index>(parts));
  });
  if (parts > 1) sum_parts(stream, sums, to, n, parts);
}

template void sum_tiles(CUstream_st*, const float*, float*, const tiled_axis*, int, void*);
template void sum_tiles(CUstream_st*, const double*, double*, const tiled_axis*, int, void*);

}}}  // namespace pinion::v0::cuda

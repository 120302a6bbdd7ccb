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

// ---- parts of a tensor

// Some parts, with the columns of all of them in a row.
template <class Index>
struct part_list {
  static constexpr int most = 32;
  int count = 0;
  std::int64_t columns = 0;    // of the whole
  Index first[most + 1] = {};  // the columns of the parts before each
  std::int64_t begin[most] = {};
  void* data[most] = {};
  divisor<Index> all;  // the columns of all parts

  __device__ int part_of(Index column) const {
    int part = 0;
    while (part + 1 < count && first[part + 1] <= column) ++part;
    return part;
  }
};

template <class Word, class Index>
__global__ void copy_words_of_parts(Word* whole, part_list<Index> parts, Index n, parts_way way) {
  const Index step = gridDim.x * blockDim.x;
  for (Index i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const Index row = parts.all.quotient(i), column = i - row * parts.all.by;
    const int part = parts.part_of(column);
    const Index at = column - parts.first[part], length = parts.first[part + 1] - parts.first[part];
    Word& there = static_cast<Word*>(parts.data[part])[static_cast<std::int64_t>(row) * length + at];
    Word& here =
        whole[static_cast<std::int64_t>(row) * parts.columns + parts.begin[part] + static_cast<std::int64_t>(at)];
    if (way == parts_way::cut)
      there = here;
    else
      here = there;
  }
}

// Copies as many parts as one kernel takes, in words of several elements where all of them allow that.
inline void copy_some_parts(cudaStream_t stream, parts_way way, void* whole, int element_bytes,
                            const parted_extents& extents, const tensor_part* parts, int count) {
  word_width width(element_bytes);
  width.divides(whole);
  width.divides(extents.columns);
  std::int64_t columns = 0;
  for (int k = 0; k < count; ++k) {
    width.divides(parts[k].data);
    width.divides(parts[k].begin);
    width.divides(parts[k].length);
    columns += parts[k].length;
  }
  columns /= width.elements();
  const std::int64_t n = extents.outer * columns;
  if (n == 0) return;
  visit_word(width.bytes(), [&]<class Word>() {
    visit_index(n, [&]<class Index>() {
      part_list<Index> list;
      list.count = count;
      list.columns = extents.columns / width.elements();
      list.all = divisor<Index>(columns);
      for (int k = 0; k < count; ++k) {
        list.data[k] = parts[k].data;
        list.begin[k] = parts[k].begin / width.elements();
        list.first[k + 1] = list.first[k] + static_cast<Index>(parts[k].length / width.elements());
      }
      launch(stream, copy_words_of_parts<Word, Index>, blocks_for(n), threads_of_block, static_cast<Word*>(whole), list,
             static_cast<Index>(n), way);
    });
  });
}

void copy_parts(CUstream_st* stream, parts_way way, void* whole, int element_bytes, const parted_extents& extents,
                const tensor_part* parts, std::size_t count) {
  constexpr std::size_t most = part_list<std::uint32_t>::most;
  for (std::size_t k = 0; k < count; k += most)
    copy_some_parts(stream, way, whole, element_bytes, extents, parts + k, static_cast<int>(std::min(most, count - k)));
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

// Sums of the rows of a tensor that sorted indices give one row, in two stages of a fixed order: the same bits in every
// run. Nothing here knows the rest of pinion.
//
// Equal indices stand next to one another, as a run. The sorted places are cut into pieces, and the first stage sums
// the part of a run that is in one piece. A run that goes on in further pieces leaves their sums as heads of those, and
// the second stage adds them in their order. So a row that is named very often takes many threads.
#pragma once

#include <type_traits>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/scalar/lane.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// The runs of n sorted indices (see sort_positions()), for a tensor seen as [outer, n, inner]. Indices from `extent` on
// stand for no row.
struct row_runs {
  const std::uint32_t* rows;
  const std::uint32_t* positions;
  std::int64_t outer, n, inner, extent;

  // The places of a piece, as a power of two: about as many as there are pieces, so that neither stage is long.
  int piece_bits() const {
    int bits = 6;
    while (n >> bits > std::int64_t{1} << bits) ++bits;
    return bits;
  }
  std::int64_t pieces() const { return (n + (std::int64_t{1} << piece_bits()) - 1) >> piece_bits(); }
  // The elements of scratch memory for the heads of pieces.
  std::int64_t scratch() const { return pieces() > 1 ? outer * pieces() * inner : 0; }
};

// Adds up load(i), load(i + 1), ... while is_there(i), with several on their way from memory at a time.
template <int Width, class T, class Index, class IsThere, class Load>
__device__ __forceinline__ void add_while(pack<T, Width>& sum, Index i, IsThere is_there, Load load) {
  constexpr Index ahead = 4;
  for (bool more = true; more; i += ahead) {
    pack<T, Width> held[ahead]{};
    for (Index j = 0; j < ahead; ++j) {
      more = more && is_there(i + j);
      if (more) held[j] = load(i + j);
    }
    for (Index j = 0; j < ahead; ++j)
      for (int k = 0; k < Width; ++k) sum.at[k] = (lane<T>(sum.at[k]) + held[j].at[k]).x;
  }
}

// The place of the sum of a run: its row, in a tensor [outer, extent, inner]; or its first place, in one [outer, n,
// inner] whose other places become 0.
enum class run_target { row, place };

// The runs as a kernel walks over them; `inner` counts packs.
template <class Count>
struct run_walk {
  const std::uint32_t *rows, *positions;
  divisor<Count> n, inner, pieces;
  std::int64_t extent;
  int piece_bits;

  __device__ bool is_first(Count place) const { return place == 0 || rows[place - 1] != rows[place]; }
  __device__ std::int64_t offset(Count outer, std::int64_t of, std::int64_t at, Count k) const {
    return (static_cast<std::int64_t>(outer) * of + at) * static_cast<std::int64_t>(inner.by) +
           static_cast<std::int64_t>(k);
  }
  // The element of the target for a run that begins at a place.
  template <run_target To>
  __device__ std::int64_t target(Count outer, Count place, Count k) const {
    if constexpr (To == run_target::row) return offset(outer, extent, rows[place], k);
    return offset(outer, n.by, place, k);
  }
};

// The first stage. A thread has some columns of one place.
template <run_target To, int Width, class T, class Count>
__global__ void sum_runs_in_pieces(const pack<T, Width>* values, pack<T, Width>* to, pack<T, Width>* heads,
                                   run_walk<Count> walk, Count count) {
  const Count step = gridDim.x * blockDim.x, n = walk.n.by;
  for (Count i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const Count line = walk.inner.quotient(i), outer = walk.n.quotient(line), k = i - line * walk.inner.by,
                place = line - outer * n, piece = place >> walk.piece_bits;
    const std::uint32_t row = walk.rows[place];
    const bool is_run = row < walk.extent, is_first = walk.is_first(place);
    if (To == run_target::place && !(is_run && is_first)) to[i] = {};
    if (!is_run || !(is_first || place == piece << walk.piece_bits)) continue;
    const Count end = (piece + 1) << walk.piece_bits;
    pack<T, Width> sum{};
    add_while(
        sum, place, [&](Count p) { return p < n && p < end && walk.rows[p] == row; },
        [&](Count p) { return values[walk.offset(outer, n, walk.positions[p], k)]; });
    if (is_first)
      to[walk.template target<To>(outer, place, k)] = sum;
    else
      heads[walk.offset(outer, walk.pieces.by, piece, k)] = sum;
  }
}

// The second stage. A thread has some columns of the first head of a run, if the piece has that.
template <run_target To, int Width, class T, class Count>
__global__ void add_heads(const pack<T, Width>* heads, pack<T, Width>* to, run_walk<Count> walk, Count count) {
  const Count step = gridDim.x * blockDim.x;
  for (Count i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const Count line = walk.inner.quotient(i), outer = walk.pieces.quotient(line), k = i - line * walk.inner.by,
                piece = line - outer * walk.pieces.by, here = piece << walk.piece_bits;
    const std::uint32_t row = walk.rows[here];
    if (walk.is_first(here) || row >= walk.extent) continue;
    const Count before = (piece - 1) << walk.piece_bits;
    if (!walk.is_first(before) && walk.rows[before] == row) continue;
    Count place = here - 1;
    while (!walk.is_first(place)) --place;
    pack<T, Width>& target = to[walk.template target<To>(outer, place, k)];
    pack<T, Width> sum = target;
    add_while(
        sum, piece, [&](Count p) { return p < walk.pieces.by && walk.rows[p << walk.piece_bits] == row; },
        [&](Count p) { return heads[walk.offset(outer, walk.pieces.by, p, k)]; });
    target = sum;
  }
}

template <run_target To, int Width, class T>
void sum_runs_in(cudaStream_t stream, const T* values, T* to, T* scratch, const row_runs& of) {
  using packs = pack<T, Width>;
  const std::int64_t inner = of.inner / Width, count = of.outer * of.n * inner, heads = of.outer * of.pieces() * inner;
  const auto with = [&]<class Count>() {
    const run_walk<Count> walk{
        of.rows,   of.positions,   divisor<Count>(of.n), divisor<Count>(inner), divisor<Count>(of.pieces()),
        of.extent, of.piece_bits()};
    launch(stream, sum_runs_in_pieces<To, Width, T, Count>, blocks_for(count), threads_of_block,
           reinterpret_cast<const packs*>(values), reinterpret_cast<packs*>(to), reinterpret_cast<packs*>(scratch),
           walk, static_cast<Count>(count));
    if (of.pieces() > 1)
      launch(stream, add_heads<To, Width, T, Count>, blocks_for(heads), threads_of_block,
             reinterpret_cast<const packs*>(scratch), reinterpret_cast<packs*>(to), walk, static_cast<Count>(heads));
  };
  if (count > 0)
    is_short(count) ? with.template operator()<std::uint32_t>() : with.template operator()<std::uint64_t>();
}

// Sums the rows of `values` [outer, n, inner]. Targets of rows that no index names stay as they are. `scratch` has as
// many elements as the runs say.
template <run_target To, class T>
void sum_runs(cudaStream_t stream, const T* values, T* to, T* scratch, const row_runs& of) {
  if (of.inner % widest<T> == 0 && is_aligned(values) && is_aligned(to) && is_aligned(scratch))
    sum_runs_in<To, widest<T>>(stream, values, to, scratch, of);
  else
    sum_runs_in<To, 1>(stream, values, to, scratch, of);
}

}}}  // namespace pinion::v0::cuda

// Kernels of elementwise programs that nvcc compiles in the unit where their expressions stand: in those of CMake's
// pinion_cuda_sources, which set PINION_CUDA_KERNELS.
//
// A program has two kernels, one for a space of one dimension and one for any other, both for whole packs of 16 bytes
// and for single elements: which operands advance, and how far, are arguments.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/elementwise/cuda_ahead.hpp>
#include <pinion/scalar/compiled.hpp>
#include <pinion/scalar/compute.hpp>
#include <pinion/scalar/lane.hpp>

namespace pinion { inline namespace v0 { namespace op {
namespace detail {

// ---- programs as types of plain numbers: those of one structure have one kernel, whatever types they come from

template <std::uint64_t... Word>
struct words {
  static constexpr int size = sizeof...(Word);
  static constexpr std::uint64_t at[size + 1]{Word..., 0};
};

template <dtype Type>
struct row;
#define PINION_ROW(value, name, element, kind) \
  template <>                                  \
  struct row<dtype::value> {                   \
    using type = element;                      \
  };
PINION_PLAIN_DTYPES(PINION_ROW)
#undef PINION_ROW
template <dtype Type>
using element_of = typename row<Type>::type;

// T is the type of its numbers.
template <class T, int Inputs, int Literals, class Code, class Constants, class Results>
struct plain_program {
  using number = T;
  static constexpr int length = Code::size, inputs = Inputs, literals = Literals, results = Results::size;
  static constexpr int operands = inputs + results;

  static constexpr scalar::instruction step(int i) {
    const std::uint64_t w = Code::at[i];
    const auto part = [w](int shift) { return static_cast<scalar::value_id>(w >> shift & 0xffff); };
    return {static_cast<scalar::opcode>(w >> 48), part(32), part(16), part(0)};
  }
  static constexpr T constant(int i) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(std::bit_cast<double>(Constants::at[i]));
    else
      return static_cast<T>(Constants::at[i]);
  }
  static constexpr scalar::value_id value_of(int result) {
    return static_cast<scalar::value_id>(Results::at[result] >> 8);
  }
  template <int Result>
  using result = element_of<static_cast<dtype>(Results::at[Result] & 0xff)>;

  static constexpr bool is_mask(int input) {
    for (int i = 0; i < length; ++i)
      if (step(i).op == scalar::opcode::input_mask && step(i).a == input) return true;
    return false;
  }
  template <int Input>
  using input = std::conditional_t<is_mask(Input), bool, T>;

  // The bytes of an element of an operand, and the elements that a thread takes at once: 16 bytes of the largest.
  static constexpr int bytes(int operand) {
    if (operand < inputs) return is_mask(operand) ? 1 : static_cast<int>(sizeof(T));
    return static_cast<int>(size_of(static_cast<dtype>(Results::at[operand - inputs] & 0xff)));
  }
  static constexpr int width = [] {
    int largest = 1;
    for (int k = 0; k < operands; ++k) largest = bytes(k) > largest ? bytes(k) : largest;
    return 16 / largest;
  }();
};

constexpr std::uint64_t word_of(const scalar::instruction& i) {
  return static_cast<std::uint64_t>(i.op) << 48 | std::uint64_t{i.a} << 32 | std::uint64_t{i.b} << 16 | i.c;
}
constexpr std::uint64_t word_of(const scalar::result& r) {
  return std::uint64_t{r.value} << 8 | static_cast<std::uint64_t>(r.type);
}
template <class T>
constexpr std::uint64_t word_of(const scalar::number& n) {
  return std::is_floating_point_v<T> ? std::bit_cast<std::uint64_t>(n.real) : static_cast<std::uint64_t>(n.integer);
}

template <class P>
struct made_plain {
  using T = typename P::arithmetic;
  template <std::size_t... I, std::size_t... K, std::size_t... R>
  static auto make(std::index_sequence<I...>, std::index_sequence<K...>, std::index_sequence<R...>) {
    constexpr auto all = P::executable;  // nvcc 13.0 does not print what is read from P itself
    return plain_program<T, static_cast<int>(all.inputs), static_cast<int>(all.literals.size()),
                         words<word_of(all.code[I])...>, words<word_of<T>(all.constants[K])...>,
                         words<word_of(all.results[R])...>>{};
  }
  using type = decltype(make(std::make_index_sequence<P::executable.code.size()>{},
                             std::make_index_sequence<P::executable.constants.size()>{},
                             std::make_index_sequence<P::executable.results.size()>{}));
};

// ---- one thread's work

// The argument of a kernel. Dimensions stand with the innermost first, whose extent counts packs where there are any.
template <class P>
struct ahead_run {
  struct operand {
    void* address;
    std::uint32_t stride[cuda::map_walk::most_rank];
  };
  cuda::wrong_places guard;
  std::uint64_t packs, elements;  // of the space; those behind the packs are taken one by one
  int rank;
  cuda::divisor<std::uint32_t> extent[cuda::map_walk::most_rank];
  operand operands[P::operands];
  typename P::number literals[P::literals + 1];
};

// Neighbours of all operands. Numbers and masks have rooms of their own, of which those that nothing names vanish.
template <class P, int Count>
struct ahead_values {
  using T = typename P::number;
  T number_in[P::inputs + 1][Count], number_out[P::results][Count];
  bool mask_in[P::inputs + 1][Count], mask_out[P::results][Count];
};

// The values of a program for one element.
template <class P>
struct ahead_element {
  using T = typename P::number;
  cuda::lane<T> number[P::length];
  bool mask[P::length];

  template <int I, int Count>
  __device__ __forceinline__ void compute(const ahead_values<P, Count>& of, int i, const T* literals) {
    using scalar::opcode;
    constexpr scalar::instruction s = P::step(I);
    if constexpr (s.op == opcode::input)
      number[I] = of.number_in[s.a][i];
    else if constexpr (s.op == opcode::input_mask)
      mask[I] = of.mask_in[s.a][i];
    else if constexpr (s.op == opcode::literal)
      number[I] = literals[s.a];
    else if constexpr (s.op == opcode::constant)
      number[I] = P::constant(s.a);
    else
      scalar::detail::compute_into<s.op>(number, mask, I, s);
  }
  template <int R, int Count>
  __device__ __forceinline__ void keep(ahead_values<P, Count>& in, int i) const {
    constexpr int value = P::value_of(R);
    if constexpr (scalar::facts(P::step(value).op).yields_mask)
      in.mask_out[R][i] = mask[value];
    else
      in.number_out[R][i] = number[value].x;
  }
};

template <class P, int Count, int K>
__device__ __forceinline__ void load_input(const ahead_run<P>& a, std::uint64_t offset, ahead_values<P, Count>& to) {
  using element = typename P::template input<K>;
  const auto* const from = static_cast<const element*>(a.operands[K].address) + offset;
  cuda::pack<element, Count> values;
  if (a.operands[K].stride[0] != 0)
    values = cuda::load_pack<Count>(from, Count, element{}, true);
  else
    for (int i = 0; i < Count; ++i) values.at[i] = *from;
  for (int i = 0; i < Count; ++i) {
    if constexpr (P::is_mask(K))
      to.mask_in[K][i] = values.at[i];
    else
      to.number_in[K][i] = values.at[i];
  }
}

template <class P, int Count, int R>
__device__ __forceinline__ void store_result(const ahead_run<P>& a, std::uint64_t offset,
                                             const ahead_values<P, Count>& from) {
  using element = typename P::template result<R>;
  if (!a.operands[P::inputs + R].address) return;
  cuda::pack<element, Count> values;
  for (int i = 0; i < Count; ++i) {
    if constexpr (scalar::facts(P::step(P::value_of(R)).op).yields_mask)
      values.at[i] = static_cast<element>(from.mask_out[R][i]);
    else
      cuda::lane<typename P::number>(from.number_out[R][i]).put(values.at[i]);
  }
  auto* const to = static_cast<element*>(a.operands[P::inputs + R].address) + offset;
  if constexpr (Count == 1)
    *to = values.at[0];
  else if constexpr (sizeof values == 16)
    cuda::store_pack(to, values, Count, true);
  else
    *reinterpret_cast<cuda::pack<element, Count>*>(to) = values;
}

// Computes `Count` neighbours, all loads before all stores, since results may lie over inputs.
template <class P, bool IsFlat, int Count, class Index, int... I, int... K, int... R>
__device__ __forceinline__ void compute_pack(const ahead_run<P>& a, Index at, std::integer_sequence<int, I...>,
                                             std::integer_sequence<int, K...>, std::integer_sequence<int, R...>) {
  Index offset[P::operands] = {};
  if constexpr (IsFlat) {
    for (int k = 0; k < P::operands; ++k) offset[k] = at * Count * a.operands[k].stride[0];
  } else {
    for (int d = 0; d + 1 < a.rank; ++d) {
      const Index rest = a.extent[d].quotient(at), position = (at - rest * a.extent[d].by) * (d == 0 ? Count : 1);
      for (int k = 0; k < P::operands; ++k) offset[k] += position * a.operands[k].stride[d];
      at = rest;
    }
    for (int k = 0; k < P::operands; ++k) offset[k] += at * a.operands[k].stride[a.rank - 1];
  }
  ahead_values<P, Count> values;
  (load_input<P, Count, K>(a, offset[K], values), ...);
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    ahead_element<P> element;
    (element.template compute<I>(values, i, a.literals), ...);
    (element.template keep<R>(values, i), ...);
  }
  (store_result<P, Count, R>(a, offset[P::inputs + R], values), ...);
}

template <class P, bool IsFlat>
__global__ void __launch_bounds__(cuda::threads_of_block) map_ahead_of_time(const __grid_constant__ ahead_run<P> a) {
  for (unsigned long long i = 0; i < a.guard.count; ++i)
    if (a.guard.first[i].position != ~0ull) return;
  using index = std::conditional_t<IsFlat, std::uint64_t, std::uint32_t>;
  using steps = std::make_integer_sequence<int, P::length>;
  using inputs = std::make_integer_sequence<int, P::inputs>;
  using results = std::make_integer_sequence<int, P::results>;
  const index first = index{blockIdx.x} * blockDim.x + threadIdx.x, step = index{gridDim.x} * blockDim.x;
  for (index at = first; at < a.packs; at += step)
    compute_pack<P, IsFlat, P::width>(a, at, steps{}, inputs{}, results{});
  for (index at = static_cast<index>(a.packs) * P::width + first; at < a.elements; at += step)
    compute_pack<P, IsFlat, 1>(a, at, steps{}, inputs{}, results{});
}

// ---- launches

// The kernels of P, whose entries in the table these functions are.
template <class P>
struct ahead_launch {
  static bool is_there() {
    cudaFuncAttributes facts;
    const auto has = [&](auto* kernel) {
      return cudaFuncGetAttributes(&facts, reinterpret_cast<const void*>(kernel)) == cudaSuccess;
    };
    const bool has_both = has(map_ahead_of_time<P, true>) && has(map_ahead_of_time<P, false>);
    cudaGetLastError();  // that there is none is no failure of another call
    return has_both;
  }

  static void run(CUstream_st* stream, const cuda::map_walk& walk, const void* literals) {
    ahead_run<P> a{};
    const bool in_packs = takes_packs(walk);
    const std::int64_t count = walk.count();
    a.guard = walk.guard;
    a.elements = static_cast<std::uint64_t>(count);
    a.packs = in_packs ? static_cast<std::uint64_t>(count / P::width) : 0;
    a.rank = walk.rank;
    for (int d = 0; d < walk.rank; ++d) {
      const std::int64_t extent = walk.extent[walk.rank - 1 - d];
      a.extent[d] = cuda::divisor<std::uint32_t>(d == 0 && in_packs ? extent / P::width : extent);
      for (int k = 0; k < P::operands; ++k)
        a.operands[k].stride[d] = static_cast<std::uint32_t>(walk.operands[k].stride[walk.rank - 1 - d]);
    }
    for (int k = 0; k < P::operands; ++k) a.operands[k].address = walk.operands[k].address;
    if constexpr (P::literals > 0) std::memcpy(a.literals, literals, P::literals * sizeof(typename P::number));
    cuda::launch(stream, walk.rank == 1 ? map_ahead_of_time<P, true> : map_ahead_of_time<P, false>,
                 cuda::blocks_for(in_packs ? count / P::width : count), cuda::threads_of_block, a);
  }

 private:
  // Tells whether each operand that advances stands at whole packs wherever a row begins.
  static bool takes_packs(const cuda::map_walk& walk) {
    if (walk.rank > 1 && walk.extent[walk.rank - 1] % P::width != 0) return false;
    for (int k = 0; k < P::operands; ++k)
      if (walk.operands[k].stride[walk.rank - 1] != 0 && reinterpret_cast<std::uintptr_t>(walk.operands[k].address) %
                                                                 static_cast<std::uintptr_t>(P::width * P::bytes(k)) !=
                                                             0)
        return false;
    return true;
  }
};

}  // namespace detail

// Puts the kernels of P into the list before main, in every binary that names keep(). P is as for scalar::kernel_of.
template <class P>
struct compile_ahead {
  static const added_ahead_kernel* add() {
    using launches = detail::ahead_launch<typename detail::made_plain<P>::type>;
    static added_ahead_kernel k{
        {scalar::fingerprint(P::executable), &scalar::kept_program<P>::view, launches::is_there, launches::run}};
    k.next = added_ahead_kernels.load(std::memory_order_relaxed);
    while (!added_ahead_kernels.compare_exchange_weak(k.next, &k, std::memory_order_acq_rel)) {
    }
    return &k;
  }
  static inline const added_ahead_kernel* const kernel = add();
  // nvcc compiles the kernels that a function names, but none that only the start of a variable does.
  static void keep() {
    (void)kernel;
    (void)&add;
  }
};

}}}  // namespace pinion::v0::op

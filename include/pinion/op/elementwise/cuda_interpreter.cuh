// Bodies of <pinion/op/elementwise/cuda_interpreter.hpp>.
#pragma once

#include <algorithm>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/elementwise/cuda_interpreter.hpp>
#include <pinion/scalar/compute.hpp>
#include <pinion/scalar/lane.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- one thread's work

// The values that a thread computes at a time.
inline constexpr int interpreted_at_once = 4;
template <class T>
using interpreted_values = pack<T, interpreted_at_once>;

// The slots of a thread, and the numbers of the program.
template <class T>
struct interpreted_slots {
  static constexpr std::uint32_t most_kept = 32;  // by a thread itself
  T* slots;
  std::int64_t stride;  // between the elements of a thread
  const T* numbers;

  __device__ __forceinline__ interpreted_values<T> get(interpreted_place from) const {
    interpreted_values<T> values;
    if (from & is_number) {
      const T number = numbers[from & ~is_number];
      for (T& v : values.at) v = number;
    } else {
      for (int k = 0; k < interpreted_at_once; ++k)
        values.at[k] = slots[(std::int64_t{from} * interpreted_at_once + k) * stride];
    }
    return values;
  }
  __device__ __forceinline__ void put(std::uint32_t to, const interpreted_values<T>& values) const {
    for (int k = 0; k < interpreted_at_once; ++k)
      slots[(std::int64_t{to} * interpreted_at_once + k) * stride] = values.at[k];
  }
  // Computes an instruction. A real function is many instructions of the card, which are not repeated.
  template <scalar::opcode Op, int Operands>
  __device__ __forceinline__ void compute(const interpreted_step& s) const {
    using number = lane<T>;
    interpreted_values<T> operands[3] = {};
    for (int i = 0; i < Operands; ++i) operands[i] = get(s.in[i]);
    const auto& [a, b, c] = operands;
    interpreted_values<T> values;
#pragma unroll(scalar::is_real_function(Op) ? 1 : interpreted_at_once)
    for (int k = 0; k < interpreted_at_once; ++k)
      values.at[k] = scalar::detail::compute_in_numbers<Op>(number(a.at[k]), number(b.at[k]), number(c.at[k])).x;
    put(s.to, values);
  }
};

// The elements of the space that a thread computes at a time. The places behind the last count as the first.
class interpreted_elements {
 public:
  __device__ __forceinline__ interpreted_elements(const map_walk& walk, std::int64_t first, std::int64_t step,
                                                  std::int64_t n)
      : walk_(walk) {
    for (int k = 0; k < interpreted_at_once; ++k) {
      count_ += first + k * step < n;
      std::int64_t place = k < count_ ? first + k * step : first;
      for (int d = walk.rank - 1; d > 0; --d) {
        const std::int64_t rest = quotient(place, walk.extent[d]);
        index_[k][d] = place - rest * walk.extent[d];
        place = rest;
      }
      index_[k][0] = place;
    }
  }
  __device__ __forceinline__ int count() const { return count_; }
  __device__ __forceinline__ std::int64_t offset(int operand, int k) const {
    std::int64_t offset = 0;
    for (int d = 0; d < walk_.rank; ++d) offset += index_[k][d] * walk_.operands[operand].stride[d];
    return offset;
  }
  template <class T, class Stored>
  __device__ __forceinline__ interpreted_values<T> load(int operand) const {
    const Stored* const from = static_cast<const Stored*>(walk_.operands[operand].address);
    interpreted_values<T> values;
    for (int k = 0; k < interpreted_at_once; ++k) values.at[k] = static_cast<T>(from[offset(operand, k)]);
    return values;
  }
  template <class Stored, class T>
  __device__ __forceinline__ void store(int operand, const interpreted_values<T>& values) const {
    Stored* const to = static_cast<Stored*>(walk_.operands[operand].address);
    for (int k = 0; k < count_; ++k) lane<T>(values.at[k]).put(to[offset(operand, k)]);
  }

 private:
  static __device__ __forceinline__ std::int64_t quotient(std::int64_t n, std::int64_t by) {
    constexpr std::int64_t most = std::int64_t{1} << 32;
    return n < most && by < most ? static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(by) : n / by;
  }

  const map_walk& walk_;
  std::int64_t index_[interpreted_at_once][map_walk::most_rank];
  int count_ = 0;
};

template <class T>
__device__ __forceinline__ void run_step(const interpreted_step& s, const interpreted_slots<T>& slots,
                                         const interpreted_elements& elements) {
  using scalar::opcode;
  const auto operand = static_cast<int>(s.in[0]);
  switch (s.op) {
    case opcode::input: return slots.put(s.to, elements.load<T, T>(operand));
    case opcode::input_mask: return slots.put(s.to, elements.load<T, bool>(operand));
#define PINION_STEP(op, name, operands, value) \
  case opcode::op: return slots.template compute<opcode::op, operands>(s);
      PINION_COMPUTATIONS(PINION_STEP)
#undef PINION_STEP
    default: return;  // numbers are no steps, and an executable program has no others
  }
}

template <class T>
__device__ __forceinline__ void store_result(const interpreted_elements& elements, int operand, dtype type,
                                             const interpreted_values<T>& values) {
  switch (type) {
#define PINION_ROW(value, name, element, kind) \
  case dtype::value: return elements.store<element>(operand, values);
    PINION_PLAIN_DTYPES(PINION_ROW)
#undef PINION_ROW
    default: return;  // an executable program has no others
  }
}

// A thread computes all results of its elements before it stores the first of them, since results may lie over inputs.
template <class T>
__global__ void interpret_elements(interpreted_program<T> p, const __grid_constant__ map_walk walk, std::int64_t n,
                                   T* scratch) {
  for (unsigned long long i = 0; i < walk.guard.count; ++i)
    if (walk.guard.first[i].position != ~0ull) return;
  T kept[interpreted_slots<T>::most_kept * interpreted_at_once];
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  interpreted_slots<T> slots{kept, 1, p.numbers};
  if (scratch) slots = {scratch + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, threads, p.numbers};
  for (std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * interpreted_at_once + threadIdx.x; first < n;
       first += threads * interpreted_at_once) {
    const interpreted_elements elements(walk, first, blockDim.x, n);
    for (std::uint32_t i = 0; i < p.step_count; ++i) run_step(p.steps[i], slots, elements);
    for (std::uint32_t r = 0; r < p.result_count; ++r)
      store_result(elements, walk.inputs + static_cast<int>(r), p.results[r].type, slots.get(p.results[r].value));
  }
}

// ---- launches

// The blocks of a run: fewer where each thread needs memory for many slots.
inline std::int64_t interpreter_blocks(std::uint32_t slots, std::int64_t n, std::size_t element) {
  constexpr std::int64_t most = 4096, most_bytes = 64 << 20;
  const std::int64_t elements = std::int64_t{threads_of_block} * interpreted_at_once;
  const std::int64_t wanted = std::min(most, (n + elements - 1) / elements);
  if (slots <= interpreted_slots<float>::most_kept) return wanted;
  return std::max<std::int64_t>(1,
                                std::min(wanted, most_bytes / (slots * elements * static_cast<std::int64_t>(element))));
}

inline std::int64_t bytes_of_slots(std::uint32_t slots, std::int64_t n, std::size_t element) {
  if (slots <= interpreted_slots<float>::most_kept) return 0;
  return interpreter_blocks(slots, n, element) * threads_of_block * interpreted_at_once * slots *
         static_cast<std::int64_t>(element);
}

std::int64_t interpreter_scratch(std::uint32_t slots, std::int64_t n, std::size_t element) {
  return bytes_of_slots(slots, n, element);
}

template <class T>
void interpret(CUstream_st* stream, const interpreted_program<T>& p, const map_walk& walk, void* scratch) {
  const std::int64_t n = walk.count();
  if (n == 0) return;
  T* const slots = bytes_of_slots(p.slots, n, sizeof(T)) > 0 ? static_cast<T*>(scratch) : nullptr;
  launch(stream, interpret_elements<T>, static_cast<unsigned>(interpreter_blocks(p.slots, n, sizeof(T))),
         threads_of_block, p, walk, n, slots);
}

#define PINION_INTERPRETER(T) \
  template void interpret(CUstream_st*, const interpreted_program<T>&, const map_walk&, void*);
PINION_INTERPRETER(float)
PINION_INTERPRETER(double)
PINION_INTERPRETER(std::int32_t)
PINION_INTERPRETER(std::int64_t)
PINION_INTERPRETER(std::uint8_t)
#undef PINION_INTERPRETER

}}}  // namespace pinion::v0::cuda

// Bodies of <pinion/op/elementwise/cuda_interpreter.hpp>.
#pragma once

#include <algorithm>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/elementwise/cuda_functions.cuh>
#include <pinion/op/elementwise/cuda_interpreter.hpp>

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
  template <class F>
  __device__ __forceinline__ void apply(const interpreted_step& s, F f) const {
    interpreted_values<T> a = get(s.in[0]);
    for (T& v : a.at) v = static_cast<T>(f(v));
    put(s.to, a);
  }
  // Computes functions of many instructions, which are not repeated.
  template <class F>
  __device__ __forceinline__ void apply_long(const interpreted_step& s, F f) const {
    interpreted_values<T> a = get(s.in[0]);
#pragma unroll 1
    for (int k = 0; k < interpreted_at_once; ++k) a.at[k] = f(a.at[k]);
    put(s.to, a);
  }
  template <class F>
  __device__ __forceinline__ void apply_to_two(const interpreted_step& s, F f) const {
    interpreted_values<T> a = get(s.in[0]);
    const interpreted_values<T> b = get(s.in[1]);
    for (int k = 0; k < interpreted_at_once; ++k) a.at[k] = static_cast<T>(f(a.at[k], b.at[k]));
    put(s.to, a);
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
    for (int k = 0; k < count_; ++k) to[offset(operand, k)] = converted<Stored>(values.at[k]);
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
  using f = scalar_functions;
  const auto operand = static_cast<int>(s.in[0]);
  switch (s.op) {
    case opcode::input: return slots.put(s.to, elements.load<T, T>(operand));
    case opcode::input_mask: return slots.put(s.to, elements.load<T, bool>(operand));
    case opcode::add: return slots.apply_to_two(s, [](T a, T b) { return f::add(a, b); });
    case opcode::subtract: return slots.apply_to_two(s, [](T a, T b) { return f::subtract(a, b); });
    case opcode::multiply: return slots.apply_to_two(s, [](T a, T b) { return f::multiply(a, b); });
    case opcode::divide: return slots.apply_to_two(s, [](T a, T b) { return f::divide(a, b); });
    case opcode::minimum: return slots.apply_to_two(s, [](T a, T b) { return f::minimum(a, b); });
    case opcode::maximum: return slots.apply_to_two(s, [](T a, T b) { return f::maximum(a, b); });
    case opcode::power: {
      interpreted_values<T> a = slots.get(s.in[0]);
      const interpreted_values<T> b = slots.get(s.in[1]);
#pragma unroll 1
      for (int k = 0; k < interpreted_at_once; ++k) a.at[k] = real_power(a.at[k], b.at[k]);
      return slots.put(s.to, a);
    }
    case opcode::negate: return slots.apply(s, [](T a) { return f::negate(a); });
    case opcode::absolute: return slots.apply(s, [](T a) { return f::absolute(a); });
    case opcode::sign: return slots.apply(s, [](T a) { return f::sign(a); });
#define PINION_STEP(function) \
  case opcode::function: return slots.apply_long(s, [](T a) { return real_##function(a); });
      PINION_REAL_FUNCTIONS(PINION_STEP)
      PINION_STEP(floor)
      PINION_STEP(ceil)
      PINION_STEP(round)
#undef PINION_STEP
    case opcode::less: return slots.apply_to_two(s, [](T a, T b) { return a < b; });
    case opcode::less_equal: return slots.apply_to_two(s, [](T a, T b) { return a <= b; });
    case opcode::equal: return slots.apply_to_two(s, [](T a, T b) { return a == b; });
    case opcode::not_equal: return slots.apply_to_two(s, [](T a, T b) { return a != b; });
    case opcode::logical_and: return slots.apply_to_two(s, [](T a, T b) { return a != T(0) && b != T(0); });
    case opcode::logical_or: return slots.apply_to_two(s, [](T a, T b) { return a != T(0) || b != T(0); });
    case opcode::logical_not: return slots.apply(s, [](T a) { return a == T(0); });
    case opcode::select: {
      const interpreted_values<T> mask = slots.get(s.in[0]), no = slots.get(s.in[2]);
      interpreted_values<T> chosen = slots.get(s.in[1]);
      for (int k = 0; k < interpreted_at_once; ++k) chosen.at[k] = mask.at[k] != T(0) ? chosen.at[k] : no.at[k];
      return slots.put(s.to, chosen);
    }
    default: return;  // numbers are no steps, and an executable program has no others
  }
}

template <class T>
__device__ __forceinline__ void store_result(const interpreted_elements& elements, int operand, element_type type,
                                             const interpreted_values<T>& values) {
  switch (type) {
    case element_type::of_float: return elements.store<float>(operand, values);
    case element_type::of_double: return elements.store<double>(operand, values);
    case element_type::of_int32: return elements.store<std::int32_t>(operand, values);
    case element_type::of_int64: return elements.store<std::int64_t>(operand, values);
    case element_type::of_uint8: return elements.store<std::uint8_t>(operand, values);
    case element_type::of_bool: return elements.store<bool>(operand, values);
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

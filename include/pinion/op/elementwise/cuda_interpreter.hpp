// The interpreter of scalar programs on GPUs, as a plain function that takes a stream. Nothing here knows the rest of
// pinion.
//
// A program is steps over slots, each of which holds a value of an element. Its steps and numbers lie in memory of the
// device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pinion/base/dtype.hpp>
#include <pinion/op/elementwise/cuda_walk.hpp>
#include <pinion/scalar/opcode.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The place of a value: the number of a slot, or that of a number of the program, with the highest bit set.
using interpreted_place = std::uint32_t;
inline constexpr interpreted_place is_number = 1u << 31;

// A step: an operation, the slot for its value, and the places of its operands. The operand of opcode::input and
// opcode::input_mask is the number of the input.
struct interpreted_step {
  scalar::opcode op;
  std::uint32_t to;
  interpreted_place in[3];
};
struct interpreted_result {
  interpreted_place value;
  pinion::dtype type;
};

// A program over numbers of type T, which is float, double, std::int32_t, std::int64_t or std::uint8_t. Masks are
// numbers, too: 0 and 1.
template <class T>
struct interpreted_program {
  const interpreted_step* steps;
  const T* numbers;
  const interpreted_result* results;
  std::uint32_t step_count, result_count, slots;
};

// The bytes of scratch memory that a run over n elements needs for slots; 0 where threads keep them.
std::int64_t interpreter_scratch(std::uint32_t slots, std::int64_t n, std::size_t element);

// Runs a program. Requires: 1 <= walk.rank.
template <class T>
void interpret(CUstream_st* stream, const interpreted_program<T>& p, const map_walk& walk, void* scratch);

}}}  // namespace pinion::v0::cuda

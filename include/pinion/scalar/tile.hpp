// A tile: the part of a strip over which the interpreter runs one step of a program at a time.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The operands of a step along one tile, and the memory of its values.
struct tile {
  static constexpr int most_operands = 4;
  const void* in[most_operands];
  std::int64_t moves[most_operands];  // all bits set: the operand moves with the elements; 0: it stays at one vector
  void* out;
  std::int64_t n;  // elements, in whole vectors
};
using tile_function = void (*)(const tile*);

// An instruction, or one together with an operand of its own, whose value then needs no memory.
struct tile_op {
  enum form : std::uint8_t {
    single,  // op(a, b, c)
    left,    // op(inner(a, b), c), of sums, differences and products, or of a minimum and a maximum
    right,   // op(c, inner(a, b)), of a difference or a quotient
    square,  // inner(a, b) times itself
    choice,  // select(inner(a, b), c, d)
  };
  form is = single;
  opcode op{};
  opcode inner{};
};

// The place where a value of a program is found while a strip runs.
struct tile_place {
  enum kind : std::uint8_t { row, input, mask, number };
  kind is = row;
  std::uint16_t at = 0;  // the number of the row, of the input, or of the number
  int result = -1;       // the result to whose memory the value of a row may be written at once, or -1
};

// A step that is ready to run.
struct tile_step {
  tile_function run = nullptr;
  int operands = 0;
  tile_place in[tile::most_operands] = {};
  tile_place out = {};
};

// A result that is ready to be written.
struct tile_result {
  tile_place value = {};
  tile_function store = nullptr;    // converts and copies the value
  std::int64_t element = 0;         // bytes
  bool may_be_direct = false;       // the step that computes the value can write it to the result's memory
  std::vector<value_id> late = {};  // inputs that are read after that step
};

}}}  // namespace pinion::v0::scalar

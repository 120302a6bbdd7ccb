// A scalar program: the computation of an elementwise node, as straight-line code in SSA form over one arithmetic type.
//
// Invariants
//   1. The operands of an instruction are earlier values; a value is named by the index of its instruction.
//   2. `input` k occurs at most once. Comparisons and logic yield masks; all others yield numbers of the arithmetic
//      type.
//   3. The values of literals (a user's 2.0f) are not part of the fingerprint; constants (a functor's own 1) are.
//   4. One set of algorithms runs in the compiler (fixed_program) and at run time (program), so that both agree bit for
//      bit.
//   5. Nothing is written past the end of a fixed_program: one that does not fit tells so, and is not to be used. A
//      program grows up to the last value that can be named, and throws internal there.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/scalar/opcode.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// The properties of an opcode.
struct opcode_facts {
  std::string_view name;
  int operands;
  bool yields_mask;
  bool takes_masks;  // for select only the first operand is a mask
};

// The properties of all opcodes. The table stands outside of the function, because a compiler would build it anew for
// each call that it evaluates.
inline constexpr opcode_facts all_opcode_facts[] = {{"input", 0, false, false},
                                                    {"mask", 0, true, false},
                                                    {"literal", 0, false, false},
                                                    {"constant", 0, false, false},
#define PINION_FACTS(op, name, operands, value)                       \
  {name, operands, is_comparison(opcode::op) || is_logic(opcode::op), \
   is_logic(opcode::op) || opcode::op == opcode::select},
                                                    PINION_COMPUTATIONS(PINION_FACTS)  //
#undef PINION_FACTS
                                                    {"partial", 3, false, false}};

constexpr const opcode_facts& facts(opcode op) {
  return all_opcode_facts[static_cast<unsigned>(op)];
}

// The name of a value: the index of its instruction.
using value_id = std::uint16_t;
inline constexpr std::size_t most_values = 1 << 16;

// The largest program that one node computes: kernels have room for that much, and the wire accepts no more. A larger
// one is cut into several nodes (cut.hpp).
struct program_bounds {
  std::size_t instructions = 1024, inputs = 40, results = 32;
};
inline constexpr int max_inputs = program_bounds{}.inputs, max_results = program_bounds{}.results;

// One instruction: an operation and its operands. A value.
struct instruction {
  opcode op{};
  value_id a = 0, b = 0, c = 0;

  constexpr value_id& operand(int i) { return i == 0 ? a : i == 1 ? b : c; }
  constexpr value_id operand(int i) const { return i == 0 ? a : i == 1 ? b : c; }
  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};

// A number of any arithmetic type. A value. As an integer, a real number beyond the integers is the nearest of them,
// and NaN is 0.
struct number {
  double real = 0;
  std::int64_t integer = 0;
  constexpr number() = default;
  template <class T>
  constexpr number(T value) : real(static_cast<double>(value)), integer(to_integer(value)) {}
  template <class T>
  constexpr T as() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(real);
    else
      return static_cast<T>(integer);
  }
  // Compares bit for bit: 0 and -0 are different numbers, and a NaN equals itself.
  friend constexpr bool operator==(const number& a, const number& b) {
    return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) && a.integer == b.integer;
  }

 private:
  template <class T>
  static constexpr std::int64_t to_integer(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T end = 9223372036854775808.0;  // 2^63
      if (!(value >= -end && value < end)) return value >= end ? INT64_MAX : value < 0 ? INT64_MIN : 0;
    }
    return static_cast<std::int64_t>(value);
  }
};

// A result of a program: one of its values, and the dtype in which it is written.
struct result {
  value_id value = 0;
  dtype type = dtype::invalid;  // bool for a mask; a dtype other than the arithmetic one is a cast on the way out
  friend constexpr bool operator==(const result&, const result&) = default;
};

// A vector of fixed capacity, for evaluation by the compiler (clang 14 has no constexpr std::vector). Items beyond the
// capacity are counted but not kept.
template <class T, std::size_t N>
struct fixed_vector {
  static constexpr std::size_t room = N;
  std::array<T, N> items{};
  std::size_t length = 0;

  constexpr void push_back(const T& value) {
    if (length < N) items[length] = value;
    ++length;
  }
  constexpr bool fits() const { return length <= N; }
  constexpr std::size_t size() const { return length; }
  constexpr T& operator[](std::size_t i) { return items[i < N ? i : N - 1]; }
  constexpr const T& operator[](std::size_t i) const { return items[i < N ? i : N - 1]; }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + (fits() ? length : N); }
};

// A program in a storage: heap vectors at run time, fixed vectors in the compiler, spans of tables in the binary. A
// value. Distinct objects may be used from distinct threads.
template <template <class> class Vector>
struct basic_program {
  dtype arithmetic = dtype::invalid;
  value_id inputs = 0;
  Vector<instruction> code;
  Vector<number> literals;
  Vector<number> constants;
  Vector<result> results;

  static constexpr bool is_fixed = requires(Vector<instruction> v) { v.fits(); };

  // True if a fixed program has room in its tables; others always fit.
  constexpr bool fits() const {
    if constexpr (is_fixed)
      return code.fits() && literals.fits() && constants.fits() && results.fits();
    else
      return true;
  }
  // Appends an instruction and returns the name of its value. Throws internal at the end of the names.
  constexpr value_id emit(opcode op, value_id a = 0, value_id b = 0, value_id c = 0) {
    if constexpr (!is_fixed)
      if (code.size() == most_values) throw error(errc::internal, "a scalar program of more than 65536 instructions");
    code.push_back({op, a, b, c});
    return static_cast<value_id>(code.size() - 1);
  }
  constexpr value_id emit_constant(number value) {
    constants.push_back(value);
    return emit(opcode::constant, static_cast<value_id>(constants.size() - 1));
  }
  constexpr value_id emit_literal(number value) {
    literals.push_back(value);
    return emit(opcode::literal, static_cast<value_id>(literals.size() - 1));
  }
  constexpr value_id emit_input(bool mask) { return emit(mask ? opcode::input_mask : opcode::input, inputs++); }
};

// A program with room for N instructions, and for 48 of each of the other things.
template <std::size_t N>
struct fixed_program_of {
  template <class T>
  using vector = fixed_vector<T, std::is_same_v<T, instruction> ? N : 48>;
  using type = basic_program<vector>;
};
template <class T>
using heap_vector = std::vector<T>;

using program = basic_program<heap_vector>;
template <std::size_t N>
using fixed_program = typename fixed_program_of<N>::type;

// A table with an entry for each value of a program, or for fewer things; all entries are T{}.
template <class T, class Program>
constexpr auto table_beside(const Program& p, std::size_t entries) {
  if constexpr (Program::is_fixed)
    return fixed_vector<T, decltype(p.code)::room>{};
  else
    return std::vector<T>(entries);
}

// True if a program is within the bounds.
bool within(const program& p, const program_bounds& bounds = {});

// Copies a program into another storage.
template <class To, class From>
constexpr To convert_program(const From& from) {
  To to;
  to.arithmetic = from.arithmetic;
  to.inputs = from.inputs;
  for (const auto& i : from.code) to.code.push_back(i);
  for (const auto& n : from.literals) to.literals.push_back(n);
  for (const auto& n : from.constants) to.constants.push_back(n);
  for (const auto& r : from.results) to.results.push_back(r);
  return to;
}

// An index for look-ups: FNV-1a over everything but the values of literals. same_structure() decides equality.
template <class Program>
constexpr std::uint64_t fingerprint(const Program& p) {
  std::uint64_t h = 14695981039346656037ull;
  const auto mix = [&h](std::uint64_t v) {
    for (int shift = 0; shift < 64; shift += 16) h = (h ^ (v >> shift & 0xffff)) * 1099511628211ull;
  };
  mix(static_cast<std::uint64_t>(p.arithmetic) << 32 | p.inputs);
  for (const auto& i : p.code)
    mix(std::uint64_t(i.op) << 48 | std::uint64_t(i.a) << 32 | std::uint64_t(i.b) << 16 | i.c);
  for (const auto& n : p.constants) mix(std::bit_cast<std::uint64_t>(n.real));
  for (const auto& r : p.results) mix(std::uint64_t(r.value) << 8 | std::uint64_t(r.type));
  return h;
}

// True if both programs are the same up to the values of literals.
template <class A, class B>
constexpr bool same_structure(const A& a, const B& b) {
  const auto same = [](const auto& x, const auto& y) {
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(x[i] == y[i])) return false;
    return true;
  };
  return a.arithmetic == b.arithmetic && a.inputs == b.inputs && same(a.code, b.code) &&
         same(a.constants, b.constants) && same(a.results, b.results) && a.literals.size() == b.literals.size();
}

// Appends `part` to `whole`, where its input i is the value arguments[i]. Returns the name of its first result.
template <class Whole, class Part>
constexpr value_id append(Whole& whole, const Part& part, const value_id* arguments) {
  auto moved = table_beside<value_id>(part, part.code.size());
  for (std::size_t i = 0; i < part.code.size(); ++i) {
    instruction in = part.code[i];
    if (in.op == opcode::input || in.op == opcode::input_mask) {
      moved[i] = arguments[in.a];
    } else if (in.op == opcode::literal) {
      moved[i] = whole.emit_literal(part.literals[in.a]);
    } else if (in.op == opcode::constant) {
      moved[i] = whole.emit_constant(part.constants[in.a]);
    } else {
      const int n = facts(in.op).operands;
      for (int k = 0; k < n; ++k) in.operand(k) = moved[in.operand(k)];
      moved[i] = whole.emit(in.op, in.a, in.b, in.c);
    }
  }
  return moved[part.results[0].value];
}

// The program without the values that no result needs. Inputs stay, since they are positional; literals keep their
// order.
template <class Program>
constexpr Program without_dead_values(const Program& p) {
  if (!p.fits()) return p;
  auto live = table_beside<bool>(p, p.code.size());
  for (const auto& r : p.results) live[r.value] = true;
  for (std::size_t i = p.code.size(); i-- > 0;) {
    const auto& in = p.code[i];
    if (in.op == opcode::input || in.op == opcode::input_mask) live[i] = true;
    if (!live[i]) continue;
    for (int k = 0; k < facts(in.op).operands; ++k) live[in.operand(k)] = true;
  }
  auto moved = table_beside<value_id>(p, p.code.size());
  Program out;
  out.arithmetic = p.arithmetic;
  out.inputs = p.inputs;
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (!live[i]) continue;
    instruction in = p.code[i];
    if (in.op == opcode::literal) {
      moved[i] = out.emit_literal(p.literals[in.a]);
    } else if (in.op == opcode::constant) {
      moved[i] = out.emit_constant(p.constants[in.a]);
    } else {
      for (int k = 0; k < facts(in.op).operands; ++k) in.operand(k) = moved[in.operand(k)];
      moved[i] = out.emit(in.op, in.a, in.b, in.c);
    }
  }
  for (const auto& r : p.results) out.results.push_back({moved[r.value], r.type});
  return out;
}

// The program that a kernel computes: without stated derivatives and without dead values. Its results are the same.
template <class Program>
constexpr Program executable(const Program& p) {
  if (!p.fits()) return p;
  Program plain = p;
  for (std::size_t i = 0; i < plain.code.size(); ++i) {
    const int n = facts(plain.code[i].op).operands;
    for (int k = 0; k < n; ++k) {
      auto& operand = plain.code[i].operand(k);
      while (plain.code[operand].op == opcode::partial) operand = plain.code[operand].a;
    }
  }
  for (std::size_t r = 0; r < plain.results.size(); ++r)
    while (plain.code[plain.results[r].value].op == opcode::partial)
      plain.results[r].value = plain.code[plain.results[r].value].a;
  return without_dead_values(plain);
}

// The number of operations, without inputs, literals and constants.
template <class Program>
constexpr int operation_count(const Program& p) {
  int n = 0;
  for (const auto& i : p.code) n += facts(i.op).operands > 0;
  return n;
}

// The program as text: "%0 = input 0\n%1 = literal 2\n%2 = mul %0 %1\nreturn %2:float".
std::string to_string(const program& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/program.ipp>
#endif

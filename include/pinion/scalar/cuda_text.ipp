// Bodies of <pinion/scalar/cuda_text.hpp>.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/operands.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL std::string_view cuda_prelude() {
  return "#define PINION_DEVICE static __device__ __forceinline__\n\nnamespace pinion {\n"
         R"(
// The type in which integers are added and multiplied, so that they wrap.
template <class T> struct wrapping_of { typedef T type; };
template <> struct wrapping_of<int> { typedef unsigned type; };
template <> struct wrapping_of<long long> { typedef unsigned long long type; };
#define PINION_WRAPPING(name, op)                         \
  template <class T> PINION_DEVICE T name(T a, T b) {     \
    typedef typename wrapping_of<T>::type word;           \
    return static_cast<T>(static_cast<word>(a) op static_cast<word>(b)); \
  }
PINION_WRAPPING(wrapping_add, +)
PINION_WRAPPING(wrapping_subtract, -)
PINION_WRAPPING(wrapping_multiply, *)
template <class T> PINION_DEVICE T wrapping_negate(T a) { return wrapping_subtract(T(0), a); }

// Integers without traps: x / 0 is 0, and the smallest integer / -1 is itself.
template <class T> PINION_DEVICE T whole_quotient(T a, T b) {
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return wrapping_negate(a);
  return static_cast<T>(a / b);
}
template <class T> PINION_DEVICE T whole_magnitude(T a) { return a < T(0) ? wrapping_negate(a) : a; }

// NaN if either operand is; of equal operands (0 and -0) the first.
template <class T> PINION_DEVICE T minimum(T a, T b) { return b < a || b != b ? b : a; }
template <class T> PINION_DEVICE T maximum(T a, T b) { return a < b || b != b ? b : a; }

// -1, 0 or 1; a zero keeps its sign, and NaN stays NaN.
template <class T> PINION_DEVICE T sign_of(T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : a; }

// Neighbours that are read or written at once. One element is no pack in memory, or a compiler would take it that packs
// of two sizes never overlap.
template <class T, int Count> struct alignas(sizeof(T) * Count) pack { T at[Count]; };
template <int Count, class T> PINION_DEVICE pack<T, Count> load(const T* from) {
  if (Count > 1) return *reinterpret_cast<const pack<T, Count>*>(from);
  pack<T, Count> one;
  one.at[0] = *from;
  return one;
}
template <int Count, class T> PINION_DEVICE void store(T* to, const pack<T, Count>& values) {
  if (Count > 1)
    *reinterpret_cast<pack<T, Count>*>(to) = values;
  else
    *to = values.at[0];
}

// The sum of neighbours, of the values of some lanes (in the first of them), and of packs that stand below each other in
// a block (in the first row); each in a fixed order. All threads of the block call the last two.
template <class T, int Count> PINION_DEVICE T sum_of(const pack<T, Count>& values) {
  T sum = values.at[0];
  for (int i = 1; i < Count; ++i) sum += values.at[i];
  return sum;
}
template <int Lanes, class T> PINION_DEVICE T sum_of_lanes(T value) {
  for (int step = Lanes / 2; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step, Lanes);
  return value;
}
template <int Lanes, int Below, class T, int Count>
PINION_DEVICE void add_rows(pack<T, Count>& sum, int lane, int row) {
  __shared__ pack<T, Count> room[Below][Lanes];
  __syncthreads();
  if (lane < Lanes) room[row][lane] = sum;
  for (int step = Below / 2; step > 0; step /= 2) {
    __syncthreads();
    if (lane < Lanes && row < step)
      for (int i = 0; i < Count; ++i) room[row][lane].at[i] += room[row + step][lane].at[i];
  }
  if (lane < Lanes && row == 0) sum = room[row][lane];
}

// Some dimensions of an array, the innermost first, and the element at a place of their space. Where the array is short,
// 32 bits count its elements.
struct dimensions { int rank, is_short; unsigned long long extent[9], stride[9]; };
template <class Index> PINION_DEVICE Index offset_by(const dimensions& all, Index place) {
  Index offset = 0;
#pragma unroll 1  // divisions of 64 bits are long code, which takes NVRTC as long as all else
  for (int d = 0; d < all.rank; ++d) {
    const Index extent = static_cast<Index>(all.extent[d]), rest = place / extent;
    offset += (place - rest * extent) * static_cast<Index>(all.stride[d]);
    place = rest;
  }
  return offset;
}
PINION_DEVICE unsigned long long offset_in(const dimensions& all, unsigned long long place) {
  return all.is_short ? offset_by(all, static_cast<unsigned>(place)) : offset_by(all, place);
}

// A divisor of indices below 2^31, with the multiplier and the shift that replace the division.
struct divisor { unsigned extent, multiplier, shift; };
PINION_DEVICE unsigned quotient(unsigned n, const divisor& d) { return (__umulhi(n, d.multiplier) + n) >> d.shift; }
struct wide_divisor { unsigned long long extent; };
PINION_DEVICE unsigned long long quotient(unsigned long long n, const wide_divisor& d) { return n / d.extent; }
)"
         "\n}  // namespace pinion\n";
}

PINION_DECL std::string_view cuda_type(dtype type) {
  switch (type) {
    case dtype::float32: return "float";
    case dtype::float64: return "double";
    case dtype::int32: return "int";
    case dtype::int64: return "long long";
    case dtype::uint8: return "unsigned char";
    case dtype::boolean: return "bool";
    default: throw error(errc::internal, "there is no CUDA C for elements of " + std::string(to_string(type)));
  }
}

PINION_DECL std::string_view cuda_arithmetic(const program& p) {
  return cuda_type(number_type(p));
}

namespace detail {

// The expressions of a program's values.
class cuda_expressions {
 public:
  explicit cuda_expressions(const program& p) : p_(p), real_(is_floating(p.arithmetic)) {}

  // The name of a value, or the expression that stands for one that needs no computation.
  std::string name(value_id id) const {
    const instruction& in = p_.code[id];
    switch (in.op) {
      case opcode::input:
      case opcode::input_mask: return fmt::format("x{}", in.a);
      case opcode::literal: return fmt::format("literal[{}]", in.a);
      case opcode::constant: return constant(p_.constants[in.a]);
      default: return fmt::format("v{}", id);
    }
  }

  // The computation of an instruction that has operands.
  std::string computed(const instruction& in) const {
    const auto operand = [&](int k) { return name(in.operand(k)); };
    if (in.op == opcode::select) return fmt::format("{} ? {} : {}", operand(0), operand(1), operand(2));
    if (in.op == opcode::logical_not) return "!" + operand(0);
    if (const auto sign = infix(in.op); !sign.empty()) return fmt::format("{} {} {}", operand(0), sign, operand(1));
    if (!real_ && is_identity_of_integers(in.op)) return operand(0);
    if (real_ && in.op == opcode::negate) return "-" + operand(0);
    if (facts(in.op).operands == 1) return fmt::format("{}({})", function(in.op), operand(0));
    return fmt::format("{}({}, {})", function(in.op), operand(0), operand(1));
  }

 private:
  static bool is_identity_of_integers(opcode op) {
    return is_real_function(op) || op == opcode::floor || op == opcode::ceil || op == opcode::round;
  }

  // A number that reads back as the same bits.
  std::string constant(const number& n) const {
    if (p_.arithmetic == dtype::float32) return real(n.as<float>(), "f", "__int_as_float(0x{:08x})");
    if (p_.arithmetic == dtype::float64) return real(n.real, "", "__longlong_as_double(0x{:016x}ll)");
    return fmt::format("static_cast<{}>({}ull)", cuda_arithmetic(p_), static_cast<std::uint64_t>(n.integer));
  }
  template <class T>
  static std::string real(T value, std::string_view suffix, const char* bits) {
    using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (!std::isfinite(value)) return fmt::format(fmt::runtime(bits), std::bit_cast<word>(value));
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".";
    text += suffix;
    return std::signbit(value) ? "(" + text + ")" : text;
  }

  std::string_view infix(opcode op) const {
    switch (op) {
      case opcode::add: return real_ ? "+" : "";
      case opcode::subtract: return real_ ? "-" : "";
      case opcode::multiply: return real_ ? "*" : "";
      case opcode::divide: return real_ ? "/" : "";
      case opcode::less: return "<";
      case opcode::less_equal: return "<=";
      case opcode::equal: return "==";
      case opcode::not_equal: return "!=";
      case opcode::logical_and: return "&&";
      case opcode::logical_or: return "||";
      default: return "";
    }
  }

  std::string function(opcode op) const {
    switch (op) {
      case opcode::add: return "wrapping_add";
      case opcode::subtract: return "wrapping_subtract";
      case opcode::multiply: return "wrapping_multiply";
      case opcode::divide: return "whole_quotient";
      case opcode::negate: return "wrapping_negate";
      case opcode::minimum: return "minimum";
      case opcode::maximum: return "maximum";
      case opcode::sign: return "sign_of";
      case opcode::absolute: return real_ ? of_reals("fabs") : "whole_magnitude";
      case opcode::round: return of_reals("rint");
      default: return of_reals(facts(op).name);  // CUDA has those of real numbers by the same names
    }
  }
  std::string of_reals(std::string_view name) const {
    return std::string(name) + (p_.arithmetic == dtype::float32 ? "f" : "");
  }

  const program& p_;
  const bool real_;
};

// A result of a program in the dtype in which it is written. A number of another dtype is converted as C does, to one
// byte by way of an int.
inline std::string cuda_result(const program& p, const result& r, const std::string& value) {
  const dtype from = facts(p.code[r.value].op).yields_mask ? dtype::boolean : number_type(p);
  if (r.type == from) return value;
  if (r.type == dtype::boolean) return value + " != 0";
  if (is_floating(from) && r.type == dtype::uint8)
    return fmt::format("static_cast<unsigned char>(static_cast<int>({}))", value);
  return fmt::format("static_cast<{}>({})", cuda_type(r.type), value);
}

}  // namespace detail

PINION_DECL std::string cuda_element(const program& p) {
  const std::string arithmetic(cuda_arithmetic(p));
  const detail::cuda_expressions expressions(p);
  std::string text = "PINION_DEVICE void element(";
  const std::vector<dtype> inputs = input_types(p);
  for (std::size_t k = 0; k < inputs.size(); ++k) text += fmt::format("const {} x{}, ", cuda_type(inputs[k]), k);
  text += fmt::format("const {}* literal", arithmetic);
  for (std::size_t k = 0; k < p.results.size(); ++k) text += fmt::format(", {}& y{}", cuda_type(p.results[k].type), k);
  text += ") {\n";
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const opcode_facts& about = facts(p.code[i].op);
    if (about.operands > 0)
      text += fmt::format("  const {} v{} = {};\n", about.yields_mask ? "bool" : arithmetic, i,
                          expressions.computed(p.code[i]));
  }
  for (std::size_t k = 0; k < p.results.size(); ++k)
    text += fmt::format("  y{} = {};\n", k, detail::cuda_result(p, p.results[k], expressions.name(p.results[k].value)));
  return text + "}\n";
}

}}}  // namespace pinion::v0::scalar

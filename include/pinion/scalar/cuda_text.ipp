// Bodies of <pinion/scalar/cuda_text.hpp>.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include <pinion/base/process.hpp>
#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/lane.hpp>
#include <pinion/scalar/operands.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL std::string_view cuda_prelude() {
  return table_of_this_process([] {
    return "#define PINION_DEVICE static __device__ __forceinline__\n"
           "#define PINION_LANE __device__ __forceinline__\n"
           "#define PINION_LANE_FUNCTIONS " +
           std::string(cuda::lane_functions_text) + "\n\nnamespace pinion {\n\n" + cuda::lane_text + R"(

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

}  // namespace pinion
)";
  });
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

// The computation of an instruction by its operands a, b and c.
inline std::string_view computation(opcode op) {
  switch (op) {
#define PINION_TEXT(op, name, operands, value) \
  case opcode::op: return #value;
    PINION_COMPUTATIONS(PINION_TEXT)
#undef PINION_TEXT
    default: return "";
  }
}

// The expressions of a program's values, each of which has a variable.
class cuda_expressions {
 public:
  explicit cuda_expressions(const program& p) : p_(p) {}

  std::string of(const instruction& in) const {
    switch (in.op) {
      case opcode::input:
      case opcode::input_mask: return fmt::format("x{}", in.a);
      case opcode::literal: return fmt::format("literal[{}]", in.a);
      case opcode::constant: return constant(p_.constants[in.a]);
      default: break;
    }
    if (is_real_function(in.op) && !is_floating(p_.arithmetic)) return name(in.a);
    std::string text;
    const std::string_view all = computation(in.op);
    for (std::size_t i = 0; i < all.size(); ++i)
      text += is_operand(all, i) ? name(in.operand(all[i] - 'a')) : std::string(1, all[i]);
    return text;
  }
  static std::string name(value_id id) { return fmt::format("v{}", id); }

 private:
  // Tells whether a character of a computation is an operand: a, b or c that is a whole word.
  static bool is_operand(std::string_view all, std::size_t i) {
    const auto is_letter = [&](std::size_t at) { return at < all.size() && all[at] >= 'a' && all[at] <= 'z'; };
    return all[i] >= 'a' && all[i] <= 'c' && !is_letter(i - 1) && !is_letter(i + 1);
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
    return text + std::string(suffix);
  }

  const program& p_;
};

// The assignment of a result, in the dtype in which it is written.
inline std::string cuda_result(const program& p, const result& r, std::size_t k) {
  const std::string value = cuda_expressions::name(r.value);
  if (facts(p.code[r.value].op).yields_mask) return fmt::format("y{} = {}", k, value);
  return fmt::format("{}.put(y{})", value, k);
}

}  // namespace detail

PINION_DECL std::string cuda_element(const program& p) {
  const std::string arithmetic(cuda_arithmetic(p));
  const detail::cuda_expressions expressions(p);
  std::string text = fmt::format("typedef lane<{}> number;\n\nPINION_DEVICE void element(", arithmetic);
  const std::vector<dtype> inputs = input_types(p);
  for (std::size_t k = 0; k < inputs.size(); ++k) text += fmt::format("const {} x{}, ", cuda_type(inputs[k]), k);
  text += fmt::format("const {}* literal", arithmetic);
  for (std::size_t k = 0; k < p.results.size(); ++k) text += fmt::format(", {}& y{}", cuda_type(p.results[k].type), k);
  text += ") {\n";
  for (std::size_t i = 0; i < p.code.size(); ++i)
    text += fmt::format("  const {} v{} = {};\n", facts(p.code[i].op).yields_mask ? "bool" : "number", i,
                        expressions.of(p.code[i]));
  for (std::size_t k = 0; k < p.results.size(); ++k)
    text += fmt::format("  {};\n", detail::cuda_result(p, p.results[k], k));
  return text + "}\n";
}

}}}  // namespace pinion::v0::scalar

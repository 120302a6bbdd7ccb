// The element types of tensors: as values (dtype), as C++ types (element), and as sets (dtype_set).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace pinion { inline namespace v0 {

// The type of an element, with the C++ type and the bytes of one element:
//
//   float32   float          4      int32     std::int32_t   4      boolean   bool          1
//   float64   double         8      int64     std::int64_t   8      string    std::string   on the host only
//   bfloat16  -              2      uint8     std::uint8_t   1      invalid   no type
//   half      -              2
//
// bfloat16 and half are dtypes of files and of devices that have them; they have no C++ type here.
//
// A new one is a row: its name as a value, its name in texts, the C++ type of an element, and its kind. Tasks tell each
// other the number of a row, so that another order of rows needs another version of the protocol.
// clang-format off
#define PINION_PLAIN_DTYPES(X)               \
  X(float32, "float", float, real)           \
  X(float64, "double", double, real)         \
  X(int32, "int32", std::int32_t, integer)   \
  X(int64, "int64", std::int64_t, integer)   \
  X(uint8, "uint8", std::uint8_t, integer)   \
  X(boolean, "bool", bool, truth)
#define PINION_DTYPES(X)                   \
  PINION_PLAIN_DTYPES(X)                   \
  X(string, "string", std::string, text)   \
  X(bfloat16, "bfloat16", std::byte[2], real) \
  X(half, "half", std::byte[2], real)
// clang-format on

#define PINION_ROW(value, name, type, kind) , value
enum class dtype : std::uint8_t { invalid PINION_DTYPES(PINION_ROW) };
#undef PINION_ROW

namespace detail {
// The rows as data.
struct dtype_facts {
  enum kind_t { none, real, integer, truth, text };
  std::string_view name;
  std::size_t bytes;
  kind_t kind;
};
#define PINION_ROW(value, name, type, kind) {name, sizeof(type), dtype_facts::kind},
inline constexpr dtype_facts all_dtype_facts[] = {{"invalid", 0, dtype_facts::none}, PINION_DTYPES(PINION_ROW)};
#undef PINION_ROW
constexpr const dtype_facts& facts_of(dtype type) {
  return all_dtype_facts[static_cast<unsigned>(type)];
}
}  // namespace detail

// The name of a dtype, such as "float" or "int32".
constexpr std::string_view to_string(dtype type) {
  return detail::facts_of(type).name;
}
// The bytes of one element in a buffer. The characters of a string are not counted.
constexpr std::size_t size_of(dtype type) {
  return detail::facts_of(type).bytes;
}
// True for float32, float64, bfloat16 and half. These are the dtypes through which gradients flow.
constexpr bool is_floating(dtype type) {
  return detail::facts_of(type).kind == detail::dtype_facts::real;
}
// True for int32, int64 and uint8.
constexpr bool is_integer(dtype type) {
  return detail::facts_of(type).kind == detail::dtype_facts::integer;
}

namespace detail {
// Tells whether T is the type of a row, or a signed integer as large as that.
template <class T, class Row>
inline constexpr bool is_as = std::is_same_v<T, Row> ||
                              (std::is_integral_v<T> && std::is_signed_v<T> && std::is_integral_v<Row> &&
                               std::is_signed_v<Row> && sizeof(T) == sizeof(Row));
template <class T>
constexpr dtype dtype_for() {
#define PINION_ROW(value, name, type, kind) \
  if (is_as<T, type>) return dtype::value;
  PINION_DTYPES(PINION_ROW)
#undef PINION_ROW
  return dtype::invalid;
}
}  // namespace detail

// The dtype of a C++ type: dtype_of<float> is dtype::float32. It is invalid for a type that no element has. An integer
// type is judged by its size and sign, so `int` and std::int32_t have one dtype.
template <class T>
inline constexpr dtype dtype_of = detail::dtype_for<T>();

// Lists of the element types: for macros, and as a sentence that compilers print.
#define PINION_EACH_ELEMENT(X) X(float) X(double) X(std::int32_t) X(std::int64_t) X(std::uint8_t) X(bool) X(std::string)
#define PINION_ELEMENT_TYPES \
  "the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string"

namespace detail {
// Compilers quote the call, and with it the sentence, where this is false. In the head of a class template they quote
// it in their first lines, which they do not for `template <element T>`.
template <class... T>
constexpr bool are_elements(const char*) {
  return ((dtype_of<T> != dtype::invalid && std::is_same_v<T, std::remove_cvref_t<T>>)&&...);
}
[[noreturn]] void no_plain_type(dtype type);  // throws invalid_argument; its body stands with those of errors
}  // namespace detail

// A C++ type that an element of a tensor may have: float, double, std::int32_t, std::int64_t, std::uint8_t, bool or
// std::string. A reference or const type is none. Only the size and sign of an integer count, so `long long` is one,
// too.
template <class T>
concept element = detail::are_elements<T>(PINION_ELEMENT_TYPES);

// A set of dtypes, by which a kernel declares what it takes: dtype_set{dtype::float32, dtype::int32}. A value, usable
// in constant expressions.
struct dtype_set {
  std::uint16_t bits = 0;

  constexpr dtype_set() = default;
  template <class... D>
  constexpr explicit dtype_set(D... types) : bits(static_cast<std::uint16_t>((0u | ... | (1u << unsigned(types))))) {}
  // True if the set has a dtype.
  constexpr bool has(dtype type) const { return bits >> unsigned(type) & 1; }
  constexpr bool empty() const { return bits == 0; }
  // The union of two sets.
  friend constexpr dtype_set operator|(dtype_set a, dtype_set b) {
    dtype_set r;
    r.bits = static_cast<std::uint16_t>(a.bits | b.bits);
    return r;
  }
  friend constexpr bool operator==(dtype_set, dtype_set) = default;
};

namespace detail {
constexpr dtype_set plain_of(dtype_facts::kind_t wanted) {
  dtype_set all;
#define PINION_ROW(value, name, type, kind) \
  if (dtype_facts::kind == wanted) all = all | dtype_set{dtype::value};
  PINION_PLAIN_DTYPES(PINION_ROW)
#undef PINION_ROW
  return all;
}
}  // namespace detail

// The sets that kernels use. `plain` are the dtypes that can be copied byte by byte and have a C++ type.
namespace dtypes {
// No dtype at all.
inline constexpr dtype_set none{};
// The floating-point dtypes that have a C++ type.
inline constexpr dtype_set floating = detail::plain_of(detail::dtype_facts::real);
// The integer dtypes.
inline constexpr dtype_set integers = detail::plain_of(detail::dtype_facts::integer);
// Those of them that have a sign: of counts, rows, places and labels.
inline constexpr dtype_set signed_integers{dtype::int32, dtype::int64};
// All dtypes that arithmetic is defined for.
inline constexpr dtype_set numbers = floating | integers;
// Numbers and bools: dtypes that are copied byte by byte.
inline constexpr dtype_set plain = numbers | detail::plain_of(detail::dtype_facts::truth);
// Every dtype that has a C++ type.
inline constexpr dtype_set all = plain | dtype_set{dtype::string};
// A node that yields no value, or a handle of a state, selects its kernel by no dtype.
inline constexpr dtype_set no_value{dtype::invalid};
inline constexpr dtype_set any = all | no_value;
}  // namespace dtypes

// Calls f.template operator()<T>() for the C++ type of a dtype among a set of plain ones, and returns its result. f
// must accept every type of the set. Throws invalid_argument for any other dtype.
//
//   const double sum = visit_plain(t.dtype(), [&]<class T>() { return add_up(t.data<T>(), t.count()); });
//   visit_plain<dtypes::floating>(t.dtype(), [&]<class T>() { ... });      // float and double
template <dtype_set Set = dtypes::plain, class F>
constexpr decltype(auto) visit_plain(dtype type, F&& f) {
  switch (type) {
#define PINION_ROW(value, name, type, kind)                                    \
  case dtype::value:                                                           \
    if constexpr (Set.has(dtype::value)) return f.template operator()<type>(); \
    break;
    PINION_PLAIN_DTYPES(PINION_ROW)
#undef PINION_ROW
    default: break;
  }
  detail::no_plain_type(type);
}

}}  // namespace pinion::v0

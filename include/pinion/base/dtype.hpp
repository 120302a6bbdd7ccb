// The element types of tensors: as values (dtype), as C++ types (element), and as sets (dtype_set).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <pinion/base/half.hpp>

namespace pinion { inline namespace v0 {

// The type of an element, with the C++ type and the bytes of one element:
//
//   float32   float          4      bfloat16  pn::bfloat16    2      uint16  std::uint16_t  2
//   float64   double         8      half      pn::half        2      uint32  std::uint32_t  4
//   int32     std::int32_t   4      int8      std::int8_t     1      uint64  std::uint64_t  8
//   int64     std::int64_t   8      int16     std::int16_t    2
//   uint8     std::uint8_t   1      string    std::string     on the host only
//   boolean   bool           1      invalid   no type
//
// Those of the first column are plain: arithmetic is defined for its numbers. bfloat16, half and the other integers are
// stored: they are moved, cut, joined, sent, kept in variables, queues and files, and converted by pn::cast, which
// makes plain ones of them for arithmetic.
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
#define PINION_STORED_DTYPES(X)                          \
  X(bfloat16, "bfloat16", ::pinion::bfloat16, stored)    \
  X(half, "half", ::pinion::half, stored)                \
  X(int8, "int8", std::int8_t, stored)                   \
  X(int16, "int16", std::int16_t, stored)                \
  X(uint16, "uint16", std::uint16_t, stored)             \
  X(uint32, "uint32", std::uint32_t, stored)             \
  X(uint64, "uint64", std::uint64_t, stored)
#define PINION_DTYPES(X)                   \
  PINION_PLAIN_DTYPES(X)                   \
  X(string, "string", std::string, text)   \
  PINION_STORED_DTYPES(X)
// clang-format on

#define PINION_ROW(value, name, type, kind) , value
enum class dtype : std::uint8_t { invalid PINION_DTYPES(PINION_ROW) };
#undef PINION_ROW

namespace detail {
// The rows as data.
struct dtype_facts {
  enum kind_t { none, real, integer, truth, text, stored };
  std::string_view name;
  std::size_t bytes;
  kind_t kind;
};
#define PINION_ROW(value, name, type, kind) {name, sizeof(type), dtype_facts::kind},
inline constexpr dtype_facts all_dtype_facts[] = {{"invalid", 0, dtype_facts::none}, PINION_DTYPES(PINION_ROW)};
#undef PINION_ROW
inline constexpr unsigned dtype_count = sizeof(all_dtype_facts) / sizeof(dtype_facts);  // the invalid one among them
static_assert(dtype_count <= 16, "a dtype_set has a bit for each dtype");
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
// True for float32 and float64. These are the dtypes through which gradients flow; bfloat16 and half are none of them.
constexpr bool is_floating(dtype type) {
  return detail::facts_of(type).kind == detail::dtype_facts::real;
}
// True for int32, int64 and uint8, the integers that arithmetic is defined for.
constexpr bool is_integer(dtype type) {
  return detail::facts_of(type).kind == detail::dtype_facts::integer;
}

namespace detail {
// True for the types of whole numbers, which are neither bool nor types of characters.
template <class T>
inline constexpr bool is_whole =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
    !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;
// Tells whether T is the type of a row, or an integer of that size and sign.
template <class T, class Row>
inline constexpr bool is_as = std::is_same_v<T, Row> || (is_whole<T> && is_whole<Row> && sizeof(T) == sizeof(Row) &&
                                                         std::is_signed_v<T> == std::is_signed_v<Row>);
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
// clang-format off
#define PINION_EACH_ELEMENT(X)                                                                              \
  X(float) X(double) X(std::int32_t) X(std::int64_t) X(std::uint8_t) X(bool) X(std::string) X(bfloat16)     \
  X(half) X(std::int8_t) X(std::int16_t) X(std::uint16_t) X(std::uint32_t) X(std::uint64_t)
// clang-format on
#define PINION_ELEMENT_TYPES \
  "the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16"

namespace detail {
// Compilers quote the call, and with it the sentence, where this is false. In the head of a class template they quote
// it in their first lines, which they do not for `template <element T>`.
template <class... T>
constexpr bool are_elements(const char*) {
  return ((dtype_of<T> != dtype::invalid && std::is_same_v<T, std::remove_cvref_t<T>>)&&...);
}
[[noreturn]] void no_plain_type(dtype type);  // throws invalid_argument; its body stands with those of errors
}  // namespace detail

// A C++ type that an element of a tensor may have: float, double, an integer of 8 to 64 bits, bool, std::string,
// pn::half or pn::bfloat16. A reference or const type is none, and no type of characters. Only the size and sign of an
// integer count, so `long long` is one, too.
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
constexpr dtype_set dtypes_of(dtype_facts::kind_t wanted) {
  dtype_set all;
#define PINION_ROW(value, name, type, kind) \
  if (dtype_facts::kind == wanted) all = all | dtype_set{dtype::value};
  PINION_DTYPES(PINION_ROW)
#undef PINION_ROW
  return all;
}
}  // namespace detail

// The sets that kernels use.
namespace dtypes {
// No dtype at all.
inline constexpr dtype_set none{};
// The floating-point dtypes that arithmetic is defined for.
inline constexpr dtype_set floating = detail::dtypes_of(detail::dtype_facts::real);
// The integer dtypes that arithmetic is defined for.
inline constexpr dtype_set integers = detail::dtypes_of(detail::dtype_facts::integer);
// Those of them that have a sign: of counts, rows, places and labels.
inline constexpr dtype_set signed_integers{dtype::int32, dtype::int64};
// All dtypes that arithmetic is defined for.
inline constexpr dtype_set numbers = floating | integers;
// Numbers and bools.
inline constexpr dtype_set plain = numbers | detail::dtypes_of(detail::dtype_facts::truth);
// The dtypes that are moved and converted, and that nothing computes with.
inline constexpr dtype_set stored = detail::dtypes_of(detail::dtype_facts::stored);
// The dtypes whose elements are copied byte by byte.
inline constexpr dtype_set moved = plain | stored;
// Every dtype.
inline constexpr dtype_set all = moved | dtype_set{dtype::string};
// A node that yields no value, or a handle of a state, selects its kernel by no dtype.
inline constexpr dtype_set no_value{dtype::invalid};
inline constexpr dtype_set any = all | no_value;
}  // namespace dtypes

// Calls f.template operator()<T>() for the C++ type of a dtype among a set of moved ones, which are the plain ones if
// none is given, and returns its result. f must accept every type of the set. Throws invalid_argument for any other
// dtype.
//
//   const double sum = visit_plain(t.dtype(), [&]<class T>() { return add_up(t.data<T>(), t.count()); });
//   visit_plain<dtypes::floating>(t.dtype(), [&]<class T>() { ... });      // float and double
template <dtype_set Set = dtypes::plain, class F>
constexpr decltype(auto) visit_plain(dtype type, F&& f) {
#define PINION_ROW(value, name, type, kind)                                    \
  case dtype::value:                                                           \
    if constexpr (Set.has(dtype::value)) return f.template operator()<type>(); \
    break;
  switch (type) {
    PINION_PLAIN_DTYPES(PINION_ROW)
    PINION_STORED_DTYPES(PINION_ROW)
    default: break;
  }
#undef PINION_ROW
  detail::no_plain_type(type);
}

// Calls f.template operator()<Element>() with an unsigned integer of the size of a dtype's elements, or with
// std::string, and returns its result: for code that moves elements and never looks at their values.
//
//   visit_element(x.dtype(), [&]<class Element>() { std::copy_n(static_cast<const Element*>(x.raw()), n, to); });
template <class F>
constexpr decltype(auto) visit_element(dtype type, F&& f) {
  if (type == dtype::string) return f.template operator()<std::string>();
  switch (size_of(type)) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return f.template operator()<std::uint32_t>();
  }
}

}}  // namespace pinion::v0

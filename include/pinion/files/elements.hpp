// The elements of a file, in either byte order, as elements of a tensor.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// The form in which a file stores an element. A value.
//
//   {.what = stored_element::kind::floating, .bytes = 4, .big_endian = true}      // a float of an IDX file
struct stored_element {
  enum class kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };
  kind what = kind::unsigned_integer;
  std::size_t bytes = 1;
  bool big_endian = false;
};

namespace detail {

// The dtype of a stored element; invalid if there is none.
constexpr dtype dtype_for(const stored_element& e) {
  using kind = stored_element::kind;
  switch (e.what) {
    case kind::boolean: return e.bytes == 1 ? dtype::boolean : dtype::invalid;
    case kind::floating:
      return e.bytes == 4   ? dtype::float32
             : e.bytes == 8 ? dtype::float64
             : e.bytes == 2 ? dtype::half
                            : dtype::invalid;
    case kind::signed_integer:
      return e.bytes == 1   ? dtype::int8
             : e.bytes == 2 ? dtype::int16
             : e.bytes == 4 ? dtype::int32
             : e.bytes == 8 ? dtype::int64
                            : dtype::invalid;
    case kind::unsigned_integer:
      return e.bytes == 1   ? dtype::uint8
             : e.bytes == 2 ? dtype::uint16
             : e.bytes == 4 ? dtype::uint32
             : e.bytes == 8 ? dtype::uint64
                            : dtype::invalid;
  }
  return dtype::invalid;
}

// Reads one element of a byte order.
template <class Stored>
Stored load_element(const std::byte* from, bool big_endian) {
  std::byte bytes[sizeof(Stored)];
  const bool swap = big_endian == (std::endian::native == std::endian::little);
  for (std::size_t i = 0; i < sizeof(Stored); ++i) bytes[i] = from[swap ? sizeof(Stored) - 1 - i : i];
  Stored value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Reads `count` elements of a byte order.
template <class Stored>
void load_elements(const std::byte* from, bool big_endian, Stored* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = load_element<Stored>(from + static_cast<std::size_t>(i) * sizeof(Stored), big_endian);
}

}  // namespace detail

// Makes a tensor of shape `extent` from stored elements. Throws unimplemented if no dtype holds the elements, and
// data_loss if a boolean is neither 0 nor 1; `what` begins the sentence. Requires: `from` holds as many elements as the
// shape. Elements in the machine's byte order are copied in one go.
any_tensor decode_elements(const stored_element& e, const shape& extent, const std::byte* from,
                           const std::string& what);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/elements.ipp>
#endif

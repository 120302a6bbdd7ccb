// Bodies of <pinion/files/elements.hpp>.
#pragma once

#include <pinion/files/booleans.hpp>
#include <pinion/files/elements.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL any_tensor decode_elements(const stored_element& e, const shape& extent, const std::byte* from,
                                       const std::string& what) {
  using kind = stored_element::kind;
  const dtype type = detail::dtype_for(e);
  if (type == dtype::invalid)
    throw error(errc::unimplemented, what + " has elements of a kind that no dtype of pinion holds (" +
                                         std::to_string(e.bytes) + " bytes each)");
  any_tensor t(type, extent);
  const std::int64_t count = t.count();
  const bool as_they_are =
      e.bytes == size_of(type) && (e.bytes == 1 || e.big_endian == (std::endian::native == std::endian::big));
  if (count == 0) return t;
  if (as_they_are) {
    std::memcpy(t.raw(), from, t.bytes());
  } else if (e.what == kind::signed_integer && e.bytes == 1) {
    detail::load_elements<std::int8_t>(from, e.big_endian, t.data<std::int32_t>(), count);
  } else if (e.what == kind::signed_integer && e.bytes == 2) {
    detail::load_elements<std::int16_t>(from, e.big_endian, t.data<std::int32_t>(), count);
  } else if (e.what == kind::unsigned_integer && e.bytes == 2) {
    detail::load_elements<std::uint16_t>(from, e.big_endian, t.data<std::int32_t>(), count);
  } else if (e.what == kind::unsigned_integer && e.bytes == 4) {
    detail::load_elements<std::uint32_t>(from, e.big_endian, t.data<std::int64_t>(), count);
  } else if (e.bytes == 2) {  // half numbers are copied as their bits
    detail::load_elements<std::uint16_t>(from, e.big_endian, static_cast<std::uint16_t*>(t.raw()), count);
  } else if (e.bytes == 4) {
    detail::load_elements<std::uint32_t>(from, e.big_endian, static_cast<std::uint32_t*>(t.raw()), count);
  } else {
    detail::load_elements<std::uint64_t>(from, e.big_endian, static_cast<std::uint64_t*>(t.raw()), count);
  }
  check_booleans(t, what);
  return t;
}

}}}  // namespace pinion::v0::files

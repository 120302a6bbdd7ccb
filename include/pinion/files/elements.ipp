// Bodies of <pinion/files/elements.hpp>.
#pragma once

#include <pinion/files/booleans.hpp>
#include <pinion/files/elements.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL any_tensor decode_elements(const stored_element& e, const shape& extent, const std::byte* from,
                                       const std::string& what) {
  const dtype type = detail::dtype_for(e);
  if (type == dtype::invalid)
    throw error(errc::unimplemented, what + " has elements of a kind that no dtype of pinion holds (" +
                                         std::to_string(e.bytes) + " bytes each)");
  any_tensor t(type, extent);
  const bool as_they_are = e.bytes == 1 || e.big_endian == (std::endian::native == std::endian::big);
  if (t.count() == 0) return t;
  if (as_they_are)
    std::memcpy(t.raw(), from, t.bytes());
  else
    visit_element(type, [&]<class Bits>() {
      if constexpr (std::is_integral_v<Bits>)
        detail::load_elements(from, e.big_endian, static_cast<Bits*>(t.raw()), t.count());
    });
  check_booleans(t, what);
  return t;
}

}}}  // namespace pinion::v0::files

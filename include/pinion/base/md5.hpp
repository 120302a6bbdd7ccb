// The MD5 digest, for spreading names as others do; not for secrets. Source: RFC 1321.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

void md5_block(std::array<std::uint32_t, 4>& state, const unsigned char* block);

}  // namespace detail

// The 16 bytes, the most significant of the usual text form first.
std::array<unsigned char, 16> md5(std::string_view text);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/md5.ipp>
#endif

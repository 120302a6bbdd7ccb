// The MD5 digest, by which names are spread in the way that others spread them. It is not for secrets. Source: RFC
// 1321.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Adds a block of 64 bytes to the state.
void md5_block(std::array<std::uint32_t, 4>& state, const unsigned char* block);

}  // namespace detail

// The 16 bytes of a text's digest, in the order in which its usual text form writes them.
std::array<unsigned char, 16> md5(std::string_view text);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/md5.ipp>
#endif

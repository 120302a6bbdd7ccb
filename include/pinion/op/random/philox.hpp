// Philox4x32-10: random numbers as a function of a key and a counter, so that each can be computed without the others.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The known answers below
// come from its reference implementation, Random123.
#pragma once

#include <array>
#include <cstdint>

namespace pinion { inline namespace v0 { namespace op {

using philox_words = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

// 128 random bits for a counter and a key.
constexpr philox_words philox(philox_words counter, philox_key key) {
  constexpr std::uint64_t first = 0xD2511F53, second = 0xCD9E8D57;  // the multipliers
  constexpr std::uint32_t golden = 0x9E3779B9,
                          root_3 = 0xBB67AE85;  // increments of the key: 2^32 (phi - 1), 2^32 (sqrt 3 - 1)
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = first * counter[0], b = second * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + golden, key[1] + root_3};
  }
  return counter;
}

static_assert(philox({}, {}) == philox_words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == philox_words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              philox_words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

}}}  // namespace pinion::v0::op

// Random indices that are the same for a seed on every machine and with every standard library (SplitMix64).
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Mixes the bits of a number. Source: Steele, Lea and Flood 2014, with Stafford's constants.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A stream of random indices, given by a seed and the number of the stream. A value; a copy continues by itself. It
// serves shuffles, whose order belongs to what a seed promises; std::shuffle differs between standard libraries.
class random_indices {
 public:
  random_indices(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed + 0x9e3779b97f4a7c15u) ^ mix(~stream)) {}

  // A uniform index in [0, n), without bias. Requires: n > 0. Source: Lemire 2019.
  std::uint64_t below(std::uint64_t n);

 private:
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

  std::uint64_t state_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/random.ipp>
#endif

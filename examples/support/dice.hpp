// Random integers that are the same for a seed on every machine and with every standard library (SplitMix64).
#pragma once

#include <cstdint>

namespace mnist {

// A value: copies go on separately.
class dice {
 public:
  explicit dice(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(seed) ^ mix(~stream)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

  // Uniform over 0 .. n-1, for n below 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

  // Uniform over low .. high, both included.
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint32_t>(high - low + 1))); }

  // Bell-shaped over -reach .. reach: the mean of three uniform numbers, standard deviation a third of the reach.
  int around(int reach) { return (between(-reach, reach) + between(-reach, reach) + between(-reach, reach)) / 3; }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace mnist

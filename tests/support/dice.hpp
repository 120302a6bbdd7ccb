// Chance that is the same everywhere.
#pragma once

#include <cstdint>

namespace pinion_tests {

struct dice {
  std::uint64_t state;
  explicit dice(std::uint64_t seed) : state(seed) {}
  std::uint64_t operator()(std::uint64_t bound) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % bound;
  }
};

}  // namespace pinion_tests

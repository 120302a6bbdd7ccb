// Handwritten digits as plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mnist {

inline constexpr std::size_t side = 28;
inline constexpr std::size_t pixels = side * side;

struct digits {
  std::vector<float> images;         // count x 784, row by row, 0 (paper) to 1 (ink)
  std::vector<std::int32_t> labels;  // 0 to 9
  std::size_t count = 0;
};

struct dataset {
  digits train, test;
  std::string source;  // where they are from, for people
};

}  // namespace mnist

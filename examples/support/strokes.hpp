// How each digit is written: a small alphabet of strokes.
#pragma once

#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace mnist::detail {

// The ways to write each digit: strokes of points in a box 100 wide and high, y downwards. A stroke runs through its
// points, smoothly after ~ (Catmull-Rom) and straight from one to the next after -.
inline constexpr std::array<std::array<const char*, 4>, 10> alphabet{{
    {{"~ 50,0 22,18 14,50 24,84 50,100 76,84 86,50 78,18 50,0", "~ 66,6 40,2 18,34 20,76 44,100 74,84 84,44 68,10 46,2",
      "~ 54,0 34,24 26,60 36,96 54,98 70,68 74,28 54,0"}},
    {{"- 52,0 50,100", "- 62,0 40,100", "- 28,26 52,0 - 52,0 52,100", "- 30,22 52,0 - 52,0 50,100 - 28,100 74,100"}},
    {{"~ 18,24 30,5 52,0 76,10 78,32 62,56 40,78 16,100 - 16,100 86,98",
      "~ 20,20 36,3 60,2 78,20 70,46 46,74 22,96 12,88 28,78 52,90 70,98 90,90",
      "~ 24,14 50,0 72,16 66,48 44,80 24,98 ~ 24,98 44,90 64,96 84,92"}},
    {{"~ 20,12 44,0 72,8 74,30 44,46 ~ 44,46 74,54 82,78 58,99 30,98 14,84",
      "- 20,2 76,2 44,40 ~ 44,40 72,44 84,68 70,94 40,100 16,88",
      "~ 26,8 52,0 68,14 60,34 40,46 36,48 52,50 72,60 70,86 46,100 22,92"}},
    {{"- 28,0 14,58 86,56 - 66,20 64,100", "- 64,100 64,0 12,66 88,66", "~ 24,4 18,34 32,52 54,52 72,40 - 76,2 66,100",
      "- 50,0 14,54 82,50 - 74,4 58,100"}},
    {{"- 78,2 30,2 24,44 ~ 24,44 52,36 80,52 80,80 52,100 16,90",
      "~ 36,2 28,30 30,44 56,46 74,64 68,90 42,100 20,92 - 36,2 80,4",
      "~ 84,0 60,4 38,6 30,28 36,42 60,50 66,74 50,94 18,98"}},
    {{"~ 70,2 40,20 20,56 26,88 52,100 78,84 74,60 50,52 24,70",
      "~ 58,0 38,30 26,66 34,94 56,98 70,80 62,64 44,68 30,84", "~ 44,0 22,40 18,76 40,100 76,92 82,66 56,54 24,70"}},
    {{"- 14,4 84,4 42,100", "- 14,6 82,2 44,100 - 32,50 80,48", "~ 12,18 20,6 50,8 84,4 ~ 84,4 62,40 48,100",
      "- 16,24 18,4 80,4 ~ 80,4 70,40 64,100"}},
    {{"~ 72,14 48,0 26,16 40,42 68,60 74,86 48,100 24,84 34,58 62,40 74,18 68,8",
      "~ 50,0 28,10 28,34 50,46 72,34 72,10 50,0 ~ 50,46 22,60 20,86 50,100 80,86 78,60 50,46",
      "~ 60,44 36,30 36,6 60,0 74,16 60,42 34,66 28,92 50,100 66,82 56,50"}},
    {{"~ 74,24 56,2 28,8 20,32 40,50 66,40 76,16 ~ 76,16 74,50 64,100",
      "~ 74,22 54,0 26,12 26,40 52,48 74,26 ~ 74,22 78,60 60,96 26,92",
      "~ 70,12 44,2 26,20 32,42 56,42 70,14 - 70,12 62,100"}},
}};

struct point {
  int x, y;
};
struct stroke {
  bool smooth;
  std::vector<point> through;
};

inline std::vector<stroke> read_strokes(const char* text) {
  std::vector<stroke> result;
  std::istringstream in{text};
  for (std::string word; in >> word;) {
    if (word == "~" || word == "-") {
      result.push_back({word == "~", {}});
    } else {
      result.back().through.push_back({std::stoi(word), std::stoi(word.substr(word.find(',') + 1))});
    }
  }
  return result;
}

// Each digit's ways, read once.
inline const std::vector<std::vector<stroke>>& ways_to_write(std::size_t digit) {
  static const auto all = [] {
    std::array<std::vector<std::vector<stroke>>, 10> result;
    for (std::size_t d = 0; d < 10; ++d) {
      for (const char* text : alphabet[d]) {
        if (text != nullptr) result[d].push_back(read_strokes(text));
      }
    }
    return result;
  }();
  return all[digit];
}

}  // namespace mnist::detail

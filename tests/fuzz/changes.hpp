// Changes of bytes by chance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <support/dice.hpp>

namespace fuzz {

using pinion_tests::dice;

// A number that often is at the edge of something, little-endian, in 1, 2, 4 or 8 bytes.
inline std::string edge(dice& random) {
  const std::uint64_t bit = std::uint64_t{1} << random(64);
  const std::uint64_t numbers[] = {0, 1, bit, bit - 1, ~std::uint64_t{0}, ~bit, random(300)};
  const std::uint64_t n = numbers[random(std::size(numbers))];
  std::string bytes(std::size_t{1} << random(4), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(n >> (8 * i));
  return bytes;
}

// One change: a bit, a number, a piece that is gone, doubled, moved or taken from another input, or an early end.
inline void change_once(std::string& input, const std::vector<std::string>& others, dice& random) {
  const std::size_t at = random(input.size() + 1), left = input.size() - at;
  const std::size_t length = random(std::min<std::size_t>(left, 64) + 1);
  const auto insert = [&](const std::string& piece) { input.insert(at, piece); };
  switch (random(8)) {
    case 0:
      if (left > 0) input[at] = static_cast<char>(input[at] ^ (1 << random(8)));
      return;
    case 1:
      if (left > 0) input[at] = static_cast<char>(random(256));
      return;
    case 2: {
      const std::string number = edge(random);
      input.replace(at, std::min(left, number.size()), number);
      return;
    }
    case 3: return insert(edge(random));
    case 4: input.erase(at, length); return;
    case 5: return insert(input.substr(at, length));
    case 6: {
      const std::string& other = others[random(others.size())];
      const std::size_t from = random(other.size() + 1);
      return insert(other.substr(from, random(128)));
    }
    case 7:
      if (random(4) == 0) input.resize(at);
      return;
  }
}

// A few changes.
inline std::string changed(std::string input, const std::vector<std::string>& others, dice& random) {
  for (std::uint64_t left = 1 + random(4); left > 0; --left) change_once(input, others, random);
  return input;
}

}  // namespace fuzz

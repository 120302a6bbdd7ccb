// A fuzz target: code that reads bytes from outside, the laws that hold of it whatever the bytes are, and inputs to
// begin with.
//
// A file of this folder holds a target, and they run in two ways. In the suite, replay_test.cpp gives each target its
// seeds, the files of corpus/NAME, and a few thousand inputs that are made of them by chance, the same in every run.
// The preset `fuzz` makes a program of each target, which libFuzzer drives (programs/libfuzzer.cpp says how to run it).
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/error.hpp>

#include <support/dice.hpp>

namespace fuzz {

using namespace pinion;
using pinion_tests::dice;

struct target {
  std::string_view name;
  // Reads an input, and checks the laws. It may throw pinion::error; whatever else it throws is a fault.
  std::function<void(std::string_view)> read;
  // Inputs that are read well. The library's own writers make them, so they follow every change of a format.
  std::function<std::vector<std::string>()> seeds;
  // The most memory that reading an input may hold at once, in bytes.
  std::function<std::size_t(std::string_view)> most_memory;
  // Changes an input in its own terms, or repairs lengths and checksums, so that a change of bytes gets past them.
  // Empty: the bytes alone are changed.
  std::function<std::string(std::string, dice&)> change = {};
  // The number of changed inputs that the suite tries.
  int rounds = 4000;
};

// The targets of this program.
inline std::vector<target>& targets() {
  static std::vector<target> all;
  return all;
}
struct enrolled {
  explicit enrolled(target t) { targets().push_back(std::move(t)); }
};

// A law does not hold. It is no pinion::error, so nothing takes it for a refusal.
struct broken_law : std::logic_error {
  using logic_error::logic_error;
};
inline void law(bool holds, const std::string& otherwise) {
  if (!holds) throw broken_law(otherwise);
}

}  // namespace fuzz

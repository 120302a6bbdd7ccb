// Runs a target on an input, and measures the memory that it takes. It replaces operator new, so that one file of a
// program includes it.
#pragma once

#include <fuzz/target.hpp>
#include <support/counted_new.hpp>

namespace fuzz {

// Returns the error with which the target refuses the input; "" where it reads it. Throws whatever else happens.
inline std::string run(const target& t, std::string_view input) {
  const std::size_t before = counted_new::bytes;
  counted_new::most_bytes = before;
  std::string refused;
  try {
    t.read(input);
  } catch (const error& e) {
    refused = e.what();
  }
  const std::size_t taken = counted_new::most_bytes - before, most = t.most_memory(input);
  law(taken <= most, "an input of " + std::to_string(input.size()) + " bytes took " + std::to_string(taken) +
                         " bytes of memory, where the limit is " + std::to_string(most));
  return refused;
}

}  // namespace fuzz

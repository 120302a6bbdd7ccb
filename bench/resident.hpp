// The memory of this process that is resident.
#pragma once

#include <fstream>
#include <string>

namespace bench {

// In KiB.
inline long resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      long kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  return 0;
}

}  // namespace bench

// How long training took, and how fast it was.
#pragma once

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

// Starts when it is made.
class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
  void report(std::int64_t steps) const {
    const double took = seconds();
    fmt::print("{} steps, {:.1f} s, {:.0f} steps/s\n", steps, took, static_cast<double>(steps) / took);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

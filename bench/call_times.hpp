// Times of the calls that a step makes, the same ones in the same order in every step: medians over steps, call by
// call, so that what a shared machine takes away now and then does not count.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "clocks.hpp"

namespace bench {

class call_times {
 public:
  void forget() { *this = {}; }
  void begin_step() {
    at_ = 0;
    inside_ = 0;
    started_ = clock::now();
  }
  void end_step() { between_.push_back(since(started_) - inside_); }

  template <class Body>
  void call(const std::string& what, Body&& body) {
    const auto start = clock::now();
    body();
    const double seconds = since(start);
    inside_ += seconds;
    if (at_ == calls_.size()) calls_.push_back({what, {}});
    calls_[at_++].seconds.push_back(seconds);
  }

  // What takes most first, then what is left of a step.
  void print() const {
    std::map<std::string, std::pair<int, double>> by_name;
    for (const auto& c : calls_) {
      auto& [count, seconds] = by_name[c.what];
      ++count;
      seconds += median(c.seconds);
    }
    std::vector<std::pair<double, std::string>> order;
    double all = median(between_);
    for (const auto& [what, sum] : by_name) {
      order.emplace_back(sum.second, what);
      all += sum.second;
    }
    std::sort(order.rbegin(), order.rend());
    for (const auto& [seconds, what] : order) {
      const int count = by_name.at(what).first;
      fmt::print("  {:<36} {:5} {:9.1f} {:9.2f}\n", what, count, seconds * 1e6, seconds * 1e6 / count);
    }
    fmt::print("  {:<36} {:5} {:9.1f}\n  {:<36} {:5} {:9.1f}\n", "between", "", median(between_) * 1e6, "all", "",
               all * 1e6);
  }

 private:
  struct one_call {
    std::string what;
    std::vector<double> seconds;
  };
  static double since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

  std::vector<one_call> calls_;
  std::vector<double> between_;
  std::size_t at_ = 0;
  double inside_ = 0;
  clock::time_point started_;
};

}  // namespace bench

// A histogram of numbers, over the limits that TensorFlow and TensorBoard share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace pinion { inline namespace v0 { namespace op {

// Bucket i counts the numbers in [limit i-1, limit i); the first begins at the lowest double. A value.
class histogram {
 public:
  // The limits: 0, +-1e-12 and each 1.1 times the one before while below 1e20, and +-DBL_MAX: 1551 in rising order.
  static const std::vector<double>& limits() {
    static const std::vector<double> all = [] {
      constexpr double most = std::numeric_limits<double>::max();
      std::vector<double> up;
      for (double v = 1e-12; v < 1e20; v *= 1.1) up.push_back(v);
      up.push_back(most);
      std::vector<double> both;
      for (auto at = up.rbegin(); at != up.rend(); ++at) both.push_back(-*at);
      both.push_back(0);
      both.insert(both.end(), up.begin(), up.end());
      return both;
    }();
    return all;
  }

  double min = std::numeric_limits<double>::max(), max = std::numeric_limits<double>::lowest();
  double count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> counts = std::vector<double>(limits().size());

  // Counts x `times` times. Requires: x is finite, and `times` is finite and positive.
  void add(double x, double times = 1) {
    const auto above = std::upper_bound(limits().begin(), limits().end(), x);
    counts[std::min(static_cast<std::size_t>(above - limits().begin()), counts.size() - 1)] += times;
    min = std::min(min, x);
    max = std::max(max, x);
    count += times;
    sum += x * times;
    sum_of_squares += x * x * times;
  }

  // The buckets in the form in which they are written: from the first to the last that counts. A run of empty buckets
  // is one bucket, which ends with the last of them. A histogram without counts has one bucket, up to DBL_MAX.
  struct bucket {
    double limit = 0, count = 0;
    friend bool operator==(const bucket&, const bucket&) = default;
  };
  std::vector<bucket> buckets() const {
    std::vector<bucket> all;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bucket here{limits()[i], counts[i]};
      if (here.count == 0 && all.empty()) continue;
      if (here.count == 0 && all.back().count == 0)
        all.back() = here;
      else
        all.push_back(here);
    }
    while (!all.empty() && all.back().count == 0) all.pop_back();
    if (all.empty()) all.push_back({limits().back(), 0});
    return all;
  }
};

}}}  // namespace pinion::v0::op

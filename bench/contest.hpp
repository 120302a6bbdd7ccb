// A contest: contenders that do the same work take turns, and their medians become rows of a report.
//
//   bench::contest c;
//   const int ours = c.add("pinion", bench::thread_seconds, [&] { step(x); });
//   const int hand = c.add("by hand", bench::thread_seconds, [&] { loop(x); });
//   c.run();
//   c.row("a step", ours, hand, bench::at_most(1.03));
//
// Turns of some hundredths of a second are interleaved, so that a machine that gets slower for a while does so for all
// of them. A ratio is the median of the ratios of the rounds. bench/run.sh gathers the rows, which are lines of the
// form
//
//   row | work | contender | beside | time of the one | time of the other | ratio | reach
//
// BENCH_QUICK=1 in the environment asks for few and short rounds, which show that a program works.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "clocks.hpp"

namespace bench {

inline bool quick() {
  const char* const word = std::getenv("BENCH_QUICK");
  return word && std::string(word) == "1";
}

// A limit for a ratio: of times, which should be small, or of rates, which should be large.
struct reach {
  double limit = 0;
  bool of_rates = false;
};
inline reach at_most(double ratio_of_times) {
  return {ratio_of_times, false};
}
inline reach at_least(double ratio_of_rates) {
  return {ratio_of_rates, true};
}

inline std::string in_words(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

inline void print_row(const std::string& work, const std::string& who, const std::string& beside,
                      const std::string& ours, const std::string& theirs, double ratio, reach r) {
  fmt::print("row | {} | {} | {} | {} | {} | {:.3f} | {} {:.3g}\n", work, who, beside, ours, theirs, ratio,
             r.of_rates ? ">=" : "<=", r.limit);
  std::fflush(stdout);
}

// Says in the report what is not compared, and why.
inline void print_missing(const std::string& what, const std::string& why) {
  fmt::print("missing | {} | {}\n", what, why);
  std::fflush(stdout);
}

class contest {
 public:
  using turn_function = std::function<double(long)>;  // does the work so often; returns seconds

  // Adds a contender by what it does, or by what does a turn. Returns its number.
  template <class Body>
  int add(std::string name, double (*now)(), Body body) {
    return add(std::move(name), turn_function([now, body](long calls) mutable {
                 const double start = now();
                 for (long i = 0; i < calls; ++i) body();
                 return now() - start;
               }));
  }
  int add(std::string name, turn_function turn) {
    all_.push_back({std::move(name), std::move(turn), 1, {}});
    return static_cast<int>(all_.size()) - 1;
  }

  void run(int rounds = 15) {
    for (auto& c : all_) calibrate(c);
    for (int i = 0; i < (quick() ? std::min(3, rounds) : rounds); ++i)
      for (auto& c : all_) c.seconds.push_back(c.turn(c.calls) / static_cast<double>(c.calls));
  }

  const std::string& name(int who) const { return at(who).name; }
  double seconds(int who) const { return median(at(who).seconds); }
  double ratio(int who, int beside) const {
    std::vector<double> each;
    for (std::size_t i = 0; i < at(who).seconds.size(); ++i) each.push_back(at(who).seconds[i] / at(beside).seconds[i]);
    return median(each);
  }
  int fastest(const std::vector<int>& some) const {
    return *std::min_element(some.begin(), some.end(), [&](int a, int b) { return seconds(a) < seconds(b); });
  }

  // The times are shown for one of `parts` equal parts of the work.
  void row(const std::string& work, int who, int beside, reach r, double parts = 1) const {
    print_row(work, name(who), name(beside), in_words(seconds(who) / parts), in_words(seconds(beside) / parts),
              r.of_rates ? ratio(beside, who) : ratio(who, beside), r);
  }

 private:
  struct contender {
    std::string name;
    turn_function turn;
    long calls;
    std::vector<double> seconds;
  };
  const contender& at(int who) const { return all_[static_cast<std::size_t>(who)]; }

  // Doubles the calls of a turn until it takes long enough. These turns warm up, too.
  static void calibrate(contender& c) {
    const double enough = quick() ? .003 : .03;
    c.turn(1);
    for (double took = c.turn(c.calls); took < enough && c.calls < 1L << 30; took = c.turn(c.calls))
      c.calls = std::max(c.calls + 1, std::min(2 * c.calls, static_cast<long>(static_cast<double>(c.calls) * 1.2 *
                                                                              enough / std::max(took, 1e-9))));
  }

  std::vector<contender> all_;
};

}  // namespace bench

// Lines that somebody else causes: a few of them are told, and of the rest how many there were.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 {

// How many lines are told in a period, and what is said of the others. A plain value.
struct few_lines_options {
  std::uint64_t most = 10, most_of_one = 10;       // of all who cause them, and of one
  std::string before = {};                         // before the number of those that were not told
  std::string after = " more, the last of them ";  // behind it, and before the last of them
};

// Passes lines on to who tells them. Strangers, and clients, cause them, and must not fill a disk. For one thread.
class few_lines {
 public:
  using sink = std::function<void(const std::string& text)>;
  static constexpr auto period = std::chrono::seconds(10);

  few_lines(few_lines_options o, sink to) : o_(std::move(o)), to_(std::move(to)) {}

  // Tells a line that one of them causes; `brief` is what is said of it where it is the last of those not told.
  void add(const std::string& one, const std::string& line, const std::string& brief, time_point now);
  // Tells of the rest, if the period is over. Called now and then.
  void tell_rest(time_point now);
  // The number of lines that the rest is, so far.
  std::uint64_t untold() const { return untold_; }

 private:
  const few_lines_options o_;
  const sink to_;
  time_point began_{};
  std::uint64_t told_ = 0, untold_ = 0;
  std::map<std::string, std::uint64_t> told_of_;  // of each who caused some
  std::string last_;                              // that was not told
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/few_lines.ipp>
#endif

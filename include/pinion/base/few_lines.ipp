// Bodies of <pinion/base/few_lines.hpp>.
#pragma once

#include <utility>

#include <pinion/base/few_lines.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void few_lines::add(const std::string& one, const std::string& line, const std::string& brief,
                                time_point now) {
  tell_rest(now);
  if (told_ < o_.most && told_of_[one] < o_.most_of_one) {
    ++told_, ++told_of_[one];
    return to_(line);
  }
  ++untold_;
  last_ = brief;
}

PINION_DECL void few_lines::tell_rest(time_point now) {
  if (now - began_ < period) return;
  if (untold_ > 0) to_(o_.before + std::to_string(untold_) + o_.after + last_);
  began_ = now;
  told_ = untold_ = 0;
  told_of_.clear();
}

}}  // namespace pinion::v0

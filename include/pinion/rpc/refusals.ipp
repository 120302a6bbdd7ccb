// Bodies of <pinion/rpc/refusals.hpp>.
#pragma once

#include <utility>

#include <pinion/base/log.hpp>
#include <pinion/rpc/refusals.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// A text of a stranger as a part of one line: at most 500 bytes, without control characters.
inline std::string one_line(std::string text) {
  if (text.size() > 500) text = text.substr(0, 500) + "...";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

}  // namespace detail

PINION_DECL refusals::refusals(std::string task, sink to) : task_(std::move(task)), sink_(std::move(to)) {}

PINION_DECL void refusals::add(const std::string& peer, const error& why, time_point now) {
  tell_rest(now);
  const std::string text = peer + ": " + detail::one_line(why.sentence());
  if (told_ < most) {
    ++told_;
    return tell("refused " + text);
  }
  ++untold_;
  last_ = text;
}

PINION_DECL void refusals::tell_rest(time_point now) {
  if (now - began_ < period) return;
  if (untold_ > 0) tell("refused " + std::to_string(untold_) + " more, the last of them " + last_);
  began_ = now;
  told_ = untold_ = 0;
}

PINION_DECL void refusals::tell(const std::string& text) {
  sink_ ? sink_(text) : write_log(log_level::warning, task_, text);
}

}}}  // namespace pinion::v0::rpc

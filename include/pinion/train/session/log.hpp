// Sinks for the lines that a training program writes.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A sink that drops every line: tr::monitored_training_session sess{{.log = tr::silent}}.
struct silent_t {
  void operator()(std::string_view) const {}
};
// Errors that end training are thrown all the same.
inline constexpr silent_t silent{};

// Makes a sink that several threads may write to: it passes lines on one at a time. An empty sink becomes standard
// error.
text_sink one_at_a_time(text_sink to);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/log.ipp>
#endif

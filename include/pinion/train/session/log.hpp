// Where the lines of a training program go.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// For .log = tr::silent: lines go nowhere.
struct silent_t {
  void operator()(std::string_view) const {}
};
inline constexpr silent_t silent{};

// Makes a sink safe for several threads, whose lines come one after another; standard error where it is empty.
text_sink one_at_a_time(text_sink to);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/log.ipp>
#endif

// Bodies of <pinion/train/session/log.hpp>.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/harmless.hpp>
#include <pinion/train/session/log.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL text_sink one_at_a_time(text_sink to) {
  return [to = std::move(to), lock = std::make_shared<std::mutex>()](std::string_view line) {
    std::lock_guard hold(*lock);
    to ? to(line) : fmt::print(stderr, "{}\n", harmless(line));
  };
}

}}}  // namespace pinion::v0::train

// Where the lines of a training program go.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <pinion/runtime/options.hpp>

namespace pinion::inline v0::train {

// For .log = tr::silent: lines go nowhere.
struct silent_t {
  void operator()(std::string_view) const {}
};
inline constexpr silent_t silent{};

// Makes a sink safe for several threads, whose lines come one after another; standard error where it is empty.
inline text_sink one_at_a_time(text_sink to) {
  return [to = std::move(to), lock = std::make_shared<std::mutex>()](std::string_view line) {
    std::lock_guard hold(*lock);
    to ? to(line) : fmt::print(stderr, "{}\n", line);
  };
}

}  // namespace pinion::inline v0::train

// Bodies of <pinion/base/log.hpp>.
#pragma once

#include <cstdio>
#include <mutex>
#include <utility>

#include <pinion/base/harmless.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

struct log_state {
  std::mutex mutex;
  log_sink taker;
};

}  // namespace detail

PINION_DECL void set_log(log_sink taker) {
  auto& state = of_this_process<detail::log_state>();
  std::lock_guard hold(state.mutex);
  state.taker.swap(taker);
}

PINION_DECL void write_log(log_level level, std::string_view task, std::string_view text) {
  const log_line line{level, harmless(task), harmless(text)};
  auto& state = of_this_process<detail::log_state>();
  std::lock_guard hold(state.mutex);
  if (state.taker) return state.taker(line);
  std::fprintf(stderr, "pinion: %s%s%s\n", line.task.c_str(), line.task.empty() ? "" : " ", line.text.c_str());
}

}}  // namespace pinion::v0

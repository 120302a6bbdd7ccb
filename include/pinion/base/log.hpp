// The lines that the library writes about what happens in a process: refused clients, waits, work that does not end.
//
//   pn::set_log([](const pn::log_line& line) { my_log << line.task << ' ' << line.text; });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

enum class log_level : std::uint8_t { info, warning, error };

// The name of a level, such as "warning".
constexpr std::string_view to_string(log_level level) {
  return level == log_level::info ? "info" : level == log_level::warning ? "warning" : "error";
}

// One line. A plain value. Its texts may hold what strangers have sent, without control characters.
struct log_line {
  log_level level = log_level::info;
  std::string task = {};  // the full name of the task that it is about; "": none
  std::string text = {};  // without a newline; it goes on where the task's name ends
};

// Takes lines. It is called in any thread, also in the network's, by one thread at a time; it must neither throw nor
// wait for the library.
using log_sink = std::function<void(const log_line&)>;

// Sets who takes the lines of this process from now on. Without one they go to standard error, as
// "pinion: /job:ps/replica:0/task:0 refused ...". Thread-safe; no line goes to the former taker when this has returned.
// Lines of training (progress, hooks) have takers of their own.
void set_log(log_sink taker);

// Passes a line to its taker.
void write_log(log_level level, std::string_view task, std::string_view text);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/log.ipp>
#endif

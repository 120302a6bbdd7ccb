#include "log.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

std::string date_of(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm at{};
  ::gmtime_r(&seconds, &at);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday,
                     at.tm_hour, at.tm_min, at.tm_sec, ms % 1000);
}

}  // namespace

std::string server::json_line(const pinion::log_line& of, std::int64_t time) {
  using json = nlohmann::ordered_json;
  const json line{{"time", date_of(time)}, {"level", to_string(of.level)}, {"task", of.task}, {"message", of.text}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

void server::log_as_json(const std::string& task) {
  pinion::set_log([task](pinion::log_line line) {
    using namespace std::chrono;
    if (line.task.empty()) line.task = task;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    std::fprintf(stderr, "%s\n", json_line(line, now).c_str());
  });
}

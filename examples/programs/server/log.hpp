// The lines of a server on standard error, as one JSON object each.
#pragma once

#include <string>

#include <pinion/base/log.hpp>

namespace server {

// "{"time":"2026-11-23T08:15:30.123Z","level":"warning","task":"/job:ps/replica:0/task:0","message":"refused ..."}" at
// a time in milliseconds since 1970. Texts that are no UTF-8 are mended.
std::string json_line(const pinion::log_line& of, std::int64_t time);

// Has the lines of this process written so from now on. A line without a task is given this one.
void log_as_json(const std::string& task);

}  // namespace server

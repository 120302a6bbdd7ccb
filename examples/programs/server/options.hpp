// The options of pinion_server.
#pragma once

#include <optional>
#include <string>

#include <pinion/distributed/server/options.hpp>

namespace server {

enum class log_format { text, json };

struct options {
  std::string cluster = "env";
  std::string job;          // "": as the cluster's text tells, or its only job
  std::optional<int> task;  // the same
  std::optional<int> metrics_port;
  std::string metrics_host = "127.0.0.1";
  log_format log = log_format::text;
  pinion::server_config config;
};

// Reads the options. Returns the status to end with at once: after --help, or where an option is wrong, which is told.
std::optional<int> read(int argc, char** argv, options& into);

}  // namespace server

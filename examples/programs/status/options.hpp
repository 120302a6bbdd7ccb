// The options of pinion_status.
#pragma once

#include <optional>
#include <string>

#include <pinion/base/security_options.hpp>

namespace status {

struct options {
  std::string target;  // "pinion://host:port"
  bool json = false, watch = false, all = false;
  double interval = 1, timeout = 2;  // seconds
  pinion::security_options security;
};

// Reads the options. Returns the status to end with at once: after --help, or where an option is wrong, which is told.
std::optional<int> read(int argc, char** argv, options& into);

}  // namespace status

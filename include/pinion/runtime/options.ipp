// Bodies of <pinion/runtime/options.hpp>.
#pragma once

#include <cstdio>
#include <ostream>

#include <pinion/base/harmless.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/spec/host_port.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL text_sink::text_sink(std::ostream& stream)
    : write_([&stream](std::string_view line) { stream << line << '\n'; }) {}

PINION_DECL void log_placement(const session_options& options, const std::string& line) {
  if (options.placement_log)
    options.placement_log(line);
  else
    std::fprintf(stdout, "%s\n", harmless(line).c_str());
}

PINION_DECL std::string address_of_target(const std::string& target) {
  const std::string scheme = "pinion://";
  if (target.rfind(scheme, 0) != 0)
    throw error(errc::invalid_argument, "the target '" + target + "' is not of the form pinion://host:port" +
                                            (target.find("//") == target.npos ? "; write " + scheme + target : ""));
  const std::string address = target.substr(scheme.size());
  if (host_port(address).port == 0)
    throw error(errc::invalid_argument, "the target '" + target +
                                            "' has port 0, at which no server is; server::target() says where one is "
                                            "that was given port 0");
  return address;
}

}}  // namespace pinion::v0

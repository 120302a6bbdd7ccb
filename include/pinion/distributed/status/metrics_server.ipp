// Bodies of <pinion/distributed/status/metrics_server.hpp>.
#pragma once

#include <stdexcept>
#include <string_view>

#include <pinion/base/error.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/distributed/status/http_server.hpp>
#include <pinion/distributed/status/metrics_server.hpp>
#include <pinion/distributed/status/metrics_text.hpp>
#include <pinion/spec/host_port.hpp>

namespace pinion { inline namespace v0 {

namespace distributed { namespace detail {

inline http_server::answer answer_about(const server& of, const std::string& path) {
  if (path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .text = metrics_text(of.report())};
  if (path == "/healthz") {
    const std::string state = of.report().state;
    return {.status = state == "running" ? 200 : 503, .text = state + "\n"};
  }
  return {.status = 404, .text = "there are /metrics and /healthz\n"};
}

inline std::string host_of(const std::string& address) {
  const host_port at(address);
  if (!at.valid())
    throw error(errc::invalid_argument,
                "the address '" + address + "' for metrics is not of the form host:port, with a port from 0 to 65535");
  return std::string(at.host);
}

// The host as the system takes it: without the brackets of IPv6.
inline std::string bare(const std::string& host) {
  return host.starts_with("[") ? host.substr(1, host.size() - 2) : host;
}

}}  // namespace distributed::detail

PINION_DECL metrics_server::metrics_server(const server& of, const std::string& address)
    : host_(distributed::detail::host_of(address)) {
  try {
    http_ = std::make_unique<distributed::http_server>(
        distributed::detail::bare(host_), host_port(address).port,
        [&of](const std::string& path) { return distributed::detail::answer_about(of, path); });
  } catch (const std::logic_error& e) {
    throw error(errc::unimplemented, e.what());
  } catch (const std::runtime_error& e) {
    throw error(errc::unavailable, e.what());
  }
}

PINION_DECL metrics_server::~metrics_server() = default;

PINION_DECL std::string metrics_server::address() const {
  return host_ + ":" + std::to_string(http_->port());
}

}}  // namespace pinion::v0

// Bodies of <pinion/distributed/status/metrics_server.hpp>.
#pragma once

#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/distributed/status/http_server.hpp>
#include <pinion/distributed/status/metrics_server.hpp>
#include <pinion/distributed/status/metrics_text.hpp>
#include <pinion/rpc/acceptor.hpp>
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

// Returns the address, if it is one. Without a host it would be that of every interface.
inline const std::string& sound(const std::string& address) {
  if (!host_port(address).valid())
    throw error(errc::invalid_argument,
                "the address '" + address + "' for metrics is not of the form host:port, with a port from 0 to 65535");
  return address;
}

}}  // namespace distributed::detail

PINION_DECL metrics_server::metrics_server(const server& of, const std::string& address)
    : host_(rpc::host_of_address(distributed::detail::sound(address))),
      http_(std::make_unique<distributed::http_server>(
          address, [&of](const std::string& path) { return distributed::detail::answer_about(of, path); },
          of.metrics_clients())) {}

PINION_DECL metrics_server::~metrics_server() = default;

PINION_DECL std::string metrics_server::address() const {
  return host_ + ":" + std::to_string(http_->port());
}

}}  // namespace pinion::v0

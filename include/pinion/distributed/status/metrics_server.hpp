// Metrics and health of a task over HTTP.
//
//   pn::server ps(cluster, {.job = "ps"});
//   pn::metrics_server metrics(ps, "127.0.0.1:9100");
//   ps.join();
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

class server;
namespace distributed {
class http_server;
}

// Answers HTTP requests about one server:
//
//   GET /metrics   200 and the text of metrics_text(), for Prometheus
//   GET /healthz   200 "running" while the task takes work, 503 "stopping" from then on
//
// Ownership: it refers to the server, which must outlive it and may be stopped meanwhile. The destructor frees the
// port, and ends what is under way.
//
// Threads: it answers in a thread of its own, and needs no attention.
//
// Security: HTTP here has neither key nor TLS. Whoever reaches the address reads names of devices, queues and tasks and
// how much is done; so the address is on loopback unless another is asked for. 64 clients are served at a time, each
// for some seconds and of some KiB, and one more ends the oldest; so strangers do not keep health from being told.
//
// Errors: the constructor throws invalid_argument for an address that is not host:port, and unavailable if it cannot
// listen there. Bad requests are answered with a status of HTTP.
class metrics_server {
 public:
  explicit metrics_server(const server& of, const std::string& address = "127.0.0.1:0");
  ~metrics_server();

  // Returns the address with the port that was bound, such as "127.0.0.1:9100".
  std::string address() const;

 private:
  const std::string host_;
  std::unique_ptr<distributed::http_server> http_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/status/metrics_server.ipp>
#endif

// The HTTP server behind metrics: it answers GET requests, and nothing else of HTTP.
//
// Whoever reaches the port may ask, so a client is given little: at most 64 are there at a time, each has two seconds
// for its request, 8 KiB for its headers and two more seconds to take the answer. One client more ends the oldest, so
// that strangers who hold connections keep nobody else out.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/each_process.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Answers GET and HEAD requests, in a thread of its own, until it is destroyed. Every other request is refused with a
// status of HTTP, and each connection is closed behind its answer.
class http_server {
 public:
  struct answer {
    int status = 200;
    std::string type = "text/plain; charset=utf-8", text = {};
  };
  // Answers the request for a path. It is called in one thread. What it throws is answered by status 500 and the text
  // of the exception.
  using handler = std::function<answer(const std::string& path)>;

  // Listens on "host:port"; port 0 binds a free one. `count` is the number of clients; it outlives the server, and may
  // be that of several. Throws unavailable if it cannot listen.
  http_server(const std::string& address, handler answers, std::atomic<int>& count);
  http_server(const http_server&) = delete;
  // Ends what is under way; it waits for a call of the handler.
  ~http_server();

  int port() const;

 private:
  class inside;
  const std::unique_ptr<inside, delete_where_made> inside_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/status/http_server.ipp>
#endif

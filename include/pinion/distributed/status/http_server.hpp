// The HTTP server behind metrics. It is compiled once, with cpp-httplib, for programs of both build modes; so this file
// knows nothing of the rest of the library.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace pinion { inline namespace v0 { namespace distributed {

// Answers GET requests, in threads of its own, until it is destroyed. Requests of any other form are refused by
// cpp-httplib, and a client that is silent for two seconds is let go.
class http_server {
 public:
  struct answer {
    int status = 200;
    std::string type = "text/plain; charset=utf-8", text = {};
  };
  // Answers the request for a path. It is called in several threads at once. What it throws is answered by status 500
  // and the text of the exception.
  using handler = std::function<answer(const std::string& path)>;

  // Listens on that host and port; port 0 binds a free one. Throws std::runtime_error if it cannot, and
  // std::logic_error if the library was built without cpp-httplib.
  http_server(const std::string& host, int port, handler answers);
  http_server(const http_server&) = delete;
  // Waits for requests that are being answered, and for idle clients, for two seconds at most.
  ~http_server();

  int port() const;

 private:
  struct inside;
  const std::unique_ptr<inside> inside_;
};

}}}  // namespace pinion::v0::distributed

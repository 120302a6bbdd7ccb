// pinion::http: the HTTP server of metrics, by cpp-httplib.
#include <pinion/distributed/status/http_server.hpp>

#include <stdexcept>

#if PINION_HAS_HTTPLIB

#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <httplib.h>

namespace pinion { inline namespace v0 { namespace distributed {

struct http_server::inside {
  httplib::Server server;
  int port = 0;
  std::thread thread;
};

namespace {

constexpr int threads = 4;
constexpr int patience = 2;  // seconds

void set_limits(httplib::Server& server) {
  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  server.set_read_timeout(patience, 0);
  server.set_write_timeout(patience, 0);
  server.set_keep_alive_timeout(patience);
  server.set_keep_alive_max_count(1);
  server.set_payload_max_length(1024);
  // cpp-httplib's own choice would let several processes listen on one port, each with a part of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

// cpp-httplib has the whole process ignore SIGPIPE, which is the program's to decide. This gives it back what it had;
// the threads that answer block the signal instead.
class kept_disposition {
 public:
  kept_disposition() { ::sigaction(SIGPIPE, nullptr, &before_); }
  kept_disposition(const kept_disposition&) = delete;
  ~kept_disposition() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

// A thread without signals, as are those that it starts.
template <class Body>
std::thread quiet_thread(Body body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread made(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

void respond(const http_server::handler& by, const httplib::Request& asked, httplib::Response& into) try {
  const http_server::answer a = by(asked.path);
  into.status = a.status;
  into.set_content(a.text, a.type.c_str());
} catch (const std::exception& e) {
  into.status = 500;
  into.set_content(std::string(e.what()) + "\n", "text/plain; charset=utf-8");
}

}  // namespace

http_server::http_server(const std::string& host, int port, handler answers)
    : inside_((kept_disposition(), std::make_unique<inside>())) {
  httplib::Server& server = inside_->server;
  set_limits(server);
  server.Get(".*", [answers = std::move(answers)](const httplib::Request& asked, httplib::Response& into) {
    respond(answers, asked, into);
  });
  errno = 0;
  inside_->port = port != 0 ? (server.bind_to_port(host, port) ? port : -1) : server.bind_to_any_port(host);
  if (inside_->port < 0)
    throw std::runtime_error("cannot listen on " + host + ":" + std::to_string(port) +
                             (errno != 0 ? ": " + std::string(std::strerror(errno)) : ""));
  inside_->thread = quiet_thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // stop() does nothing before that
}

http_server::~http_server() {
  inside_->server.stop();
  inside_->thread.join();
}

int http_server::port() const {
  return inside_->port;
}

}}}  // namespace pinion::v0::distributed

#else

namespace pinion { inline namespace v0 { namespace distributed {

struct http_server::inside {};

http_server::http_server(const std::string&, int, handler) {
  throw std::logic_error(
      "pinion was built without cpp-httplib, so it has no metrics over HTTP (Debian, Ubuntu: apt-get install "
      "libcpp-httplib-dev)");
}
http_server::~http_server() = default;
int http_server::port() const {
  return 0;
}

}}}  // namespace pinion::v0::distributed

#endif

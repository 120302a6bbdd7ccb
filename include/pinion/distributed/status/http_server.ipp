// Bodies of <pinion/distributed/status/http_server.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <list>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/error.hpp>
#include <pinion/base/harmless.hpp>
#include <pinion/base/without_signals.hpp>
#include <pinion/distributed/status/http_server.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/network.hpp>
#include <pinion/rpc/transport/socket_stream.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

inline constexpr std::size_t most_http_clients = 64, longest_http_request = std::size_t{8} << 10;
inline constexpr std::chrono::seconds max_wait{2};

// A client whose request is read or answered. Its deadline closes it. Owned by the coroutine that serves it. It counts
// itself among all as long as it lives.
class http_client {
 public:
  http_client(asio::ip::tcp::socket socket, std::atomic<int>& count)
      : socket_(std::move(socket)), deadline_(socket_.get_executor()), count_(count) {
    rpc::detail::keep_from_children(socket_.native_handle());
    ++count_;
  }
  http_client(const http_client&) = delete;
  ~http_client() { --count_; }

  bool is_open() const { return socket_.is_open(); }
  void close() {
    asio::error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
  }
  // Gives it so long from now on. Requires: a shared pointer to it is passed.
  void hurry(const std::shared_ptr<http_client>& self) {
    deadline_.expires_after(max_wait);
    deadline_.async_wait([it = std::weak_ptr(self)](asio::error_code cancelled) {
      if (const auto still = it.lock(); still && !cancelled) still->close();
    });
  }

  // Returns the request to the end of its headers, or as much as has come before the client says no more, or all of
  // what is too long.
  rpc::awaitable<std::string> read() {
    std::string all;
    while (all.size() <= longest_http_request && all.find("\r\n\r\n") == all.npos) {
      const std::string more = co_await read_some();
      if (more.empty()) break;
      all += more;
    }
    co_return all;
  }
  // Returns "" where the client says no more.
  rpc::awaitable<std::string> read_some() {
    std::string bytes(2048, '\0');
    try {
      bytes.resize(co_await socket_.async_read_some(asio::buffer(bytes), asio::use_awaitable));
    } catch (const asio::system_error& e) {
      if (e.code() != asio::error::eof) throw;
      bytes.clear();
    }
    co_return bytes;
  }
  rpc::awaitable<void> write(std::string text) {
    co_await asio::async_write(socket_, asio::buffer(text), asio::use_awaitable);
  }
  // Says no more, and hears what the client still says: bytes that nobody read would destroy the answer on its way.
  rpc::awaitable<void> see_off() {
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send);
    for (std::size_t left = std::size_t{64} << 10; left > 0;) {
      const auto more = co_await read_some();
      if (more.empty()) break;
      left -= std::min(left, more.size());
    }
  }

 private:
  asio::ip::tcp::socket socket_;
  asio::steady_timer deadline_;
  std::atomic<int>& count_;
};

inline std::string_view http_reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

// The first line of a request: "GET /metrics?a=b HTTP/1.1".
struct http_request {
  std::string_view method, path;
  explicit http_request(std::string_view text) {
    const std::string_view line = text.substr(0, text.find("\r\n"));
    const auto first = line.find(' '), last = line.rfind(' ');
    if (first == line.npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return;
    const std::string_view target = line.substr(first + 1, last - first - 1);
    if (!target.starts_with('/') || target.find(' ') != target.npos) return;
    method = line.substr(0, first);
    path = target.substr(0, target.find('?'));
  }
};

inline http_server::answer answer_to(const std::string& request, const http_server::handler& by) try {
  if (request.size() > longest_http_request) return {.status = 431, .text = "a request has at most 8 KiB of headers\n"};
  if (request.find("\r\n\r\n") == request.npos) return {.status = 400, .text = "the request has no end\n"};
  const http_request asked(request);
  if (asked.method.empty()) return {.status = 400, .text = "this is no request of HTTP/1\n"};
  if (asked.method != "GET" && asked.method != "HEAD") return {.status = 405, .text = "there is only GET\n"};
  return by(std::string(asked.path));
} catch (const std::exception& e) {
  return {.status = 500, .text = harmless(e.what()) + "\n"};
}

inline std::string http_text(const http_server::answer& a, bool with_body) {
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
                     a.status, http_reason(a.status), a.type, a.text.size(),
                     a.status == 405 ? "Allow: GET, HEAD\r\n" : "", with_body ? a.text : "");
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

class http_server::inside {
 public:
  inside(const std::string& address, handler answers, std::atomic<int>& count)
      : answers_(std::move(answers)), count_(count) {
    listen(address);
    asio::co_spawn(context_, accept(), asio::detached);
    const without_signals meanwhile;  // the thread has them blocked as well
    thread_ = std::thread([this] { context_.run(); });
  }
  inside(const inside&) = delete;
  ~inside() {
    context_.stop();
    thread_.join();
  }

  int port() const { return port_; }

 private:
  using clients = std::list<std::shared_ptr<detail::http_client>>;

  void listen(const std::string& address) try {
    const rpc::endpoint at(address);
    asio::ip::tcp::resolver resolver(context_);
    const asio::ip::tcp::endpoint found = *resolver.resolve(at.host, at.port).begin();
    acceptor_.open(found.protocol());
    rpc::detail::keep_from_children(acceptor_.native_handle());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(found);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const asio::system_error& e) {
    throw error(errc::unavailable, "cannot listen on " + address + ": " + e.code().message());
  }

  rpc::awaitable<void> accept() {
    asio::steady_timer pause(context_);
    for (;;) {
      bool full = false;
      try {
        auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
        if (clients_.size() >= detail::most_http_clients) end_oldest();
        clients_.push_back(std::make_shared<detail::http_client>(std::move(socket), count_));
        asio::co_spawn(context_, serve(std::prev(clients_.end())), asio::detached);
      } catch (const std::exception&) {  // out of descriptors, say
        full = true;
      }
      if (!full) continue;
      if (!clients_.empty()) end_oldest();
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::use_awaitable);
    }
  }
  // Its coroutine ends then, and has its number until it does.
  void end_oldest() {
    for (const auto& one : clients_)
      if (one->is_open()) return one->close();
  }

  rpc::awaitable<void> serve(clients::iterator place) {
    const auto client = *place;
    try {
      client->hurry(client);
      const std::string request = co_await client->read();
      const bool only_asks_for_headers = request.starts_with("HEAD ");
      std::string said =
          request.empty() ? "" : detail::http_text(detail::answer_to(request, answers_), !only_asks_for_headers);
      client->hurry(client);
      co_await client->write(std::move(said));
      co_await client->see_off();
    } catch (const std::exception&) {  // it is gone, or too slow
    }
    client->close();
    clients_.erase(place);
  }

  const handler answers_;
  std::atomic<int>& count_;
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_{context_};
  clients clients_;  // the oldest first
  int port_ = 0;
  std::thread thread_;
};

PINION_DECL http_server::http_server(const std::string& address, handler answers, std::atomic<int>& count)
    : inside_(new inside(address, std::move(answers), count)) {}

PINION_DECL http_server::~http_server() = default;

PINION_DECL int http_server::port() const {
  return inside_->port();
}

}}}  // namespace pinion::v0::distributed

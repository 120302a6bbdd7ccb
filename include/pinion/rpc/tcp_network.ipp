// Bodies of <pinion/rpc/tcp_network.hpp>.
#pragma once

#include <netinet/tcp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/base/heap.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/process.hpp>
#include <pinion/base/short_turns.hpp>
#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/local_network.hpp>
#include <pinion/rpc/network_turn.hpp>
#include <pinion/rpc/socket_stream.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline std::string text_of(const asio::ip::tcp::endpoint& at) {
  const std::string host = at.address().to_string(), port = ":" + std::to_string(at.port());
  return at.address().is_v6() ? "[" + host + "]" + port : host + port;
}

class tcp_stream final : public socket_stream<asio::ip::tcp::socket> {
 public:
  explicit tcp_stream(asio::ip::tcp::socket socket) : tcp_stream(std::move(socket), {}) {}
  bool stays_on_host() const override { return stays_; }

 private:
  tcp_stream(asio::ip::tcp::socket socket, asio::error_code ignored)
      : socket_stream(std::move(socket), text_of(socket.remote_endpoint(ignored))) {
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    // Heartbeats notice a dead peer earlier. This makes the system drop the bytes that were sent to it.
    const int user_timeout_ms = 30000;
    ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
    asio::error_code failed;
    const auto here = socket_.local_endpoint(failed).address(), there = socket_.remote_endpoint(failed).address();
    stays_ = !failed && (here == there || there.is_loopback());
  }

  bool stays_ = false;
};

class tcp_timer final : public timer {
 public:
  explicit tcp_timer(asio::io_context& context) : timer_(context) {}
  awaitable<bool> wait_until(time_point when) override {
    timer_.expires_at(when);
    asio::error_code cancelled;
    co_await timer_.async_wait(telling(cancelled));
    co_return !cancelled;
  }
  void cancel() noexcept override {
    try {
      timer_.cancel();
    } catch (...) {
    }
  }

 private:
  asio::steady_timer timer_;
};

inline asio::ip::tcp::endpoint numeric_endpoint(const endpoint& at, asio::error_code& failed) {
  const auto host = asio::ip::make_address(at.host == "localhost" ? "127.0.0.1" : at.host, failed);
  return {host, static_cast<asio::ip::port_type>(std::stoi(at.port))};
}

class tcp_listener final : public listener {
 public:
  tcp_listener(asio::io_context& context, const std::string& address) : acceptor_(context) {
    try {
      const auto at = resolve(context, endpoint(address));
      acceptor_.open(at.protocol());
      keep_from_children(acceptor_.native_handle());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(at);
      acceptor_.listen();
      address_ = address.substr(0, address.rfind(':') + 1) + std::to_string(acceptor_.local_endpoint().port());
    } catch (const asio::system_error& e) {
      const bool taken = e.code() == asio::error::address_in_use;
      throw error(taken ? errc::already_exists : errc::invalid_argument,
                  "cannot listen on " + address + ": " + e.code().message());
    }
  }
  awaitable<std::unique_ptr<byte_stream>> accept() override {
    asio::error_code failed;
    auto socket = co_await acceptor_.async_accept(telling(failed));
    if (!failed) co_return std::make_unique<tcp_stream>(std::move(socket));
    if (acceptor_.is_open()) throw error(errc::unavailable, "cannot take a connection: " + failed.message());
    throw error(errc::cancelled, "the listener of " + address_ + " was closed");
  }
  const std::string& address() const override { return address_; }
  void close() noexcept override {
    asio::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  static asio::ip::tcp::endpoint resolve(asio::io_context& context, const endpoint& at) {
    asio::error_code not_numeric;
    const auto numeric = numeric_endpoint(at, not_numeric);
    if (!not_numeric) return numeric;
    asio::ip::tcp::resolver resolver(context);
    return *resolver.resolve(at.host, at.port).begin();
  }

  asio::ip::tcp::acceptor acceptor_;
  std::string address_;
};

inline error nothing_answered(const std::string& at) {
  return error(errc::deadline_exceeded, "nothing answered at " + at);
}

// A look-up of a name. The system's own cannot be broken off, so it may end when nobody waits for it any more.
struct lookup {
  asio::ip::tcp::resolver resolver;
  asio::steady_timer ended;  // is cancelled then
  bool is_over = false;
  asio::error_code failed = {};
  std::vector<std::string> found = {};
};

// The numeric addresses of "host:port", in the order in which the system prefers them.
inline awaitable<std::vector<std::string>> addresses_of(asio::io_context& context, std::string address,
                                                        time_point deadline) {
  const endpoint at(address);
  asio::error_code failed;
  numeric_endpoint(at, failed);
  if (!failed) co_return std::vector<std::string>(1, address);
  const auto name = std::make_shared<lookup>(
      lookup{.resolver = asio::ip::tcp::resolver(context), .ended = asio::steady_timer(context, deadline)});
  name->resolver.async_resolve(at.host, at.port, [name](const asio::error_code& how, const auto& all) {
    name->failed = how;
    for (const auto& one : all) name->found.push_back(text_of(one.endpoint()));
    name->is_over = true;
    name->ended.cancel();
  });
  asio::error_code cancelled;
  co_await name->ended.async_wait(telling(cancelled));
  if (!name->is_over) throw error(errc::deadline_exceeded, "the name of " + address + " was not resolved in time");
  if (name->failed)
    throw error(errc::unavailable, "cannot resolve the name of " + address + ": " + name->failed.message());
  co_return std::move(name->found);
}

inline awaitable<std::unique_ptr<byte_stream>> connect_to(asio::io_context& context, std::string numeric,
                                                          time_point deadline) {
  const auto socket = std::make_shared<asio::ip::tcp::socket>(context);
  const auto late = std::make_shared<bool>(false);
  asio::steady_timer limit(context, deadline);
  limit.async_wait([socket, late](const asio::error_code& cancelled) {
    if (cancelled) return;
    *late = true;
    asio::error_code ignored;
    socket->close(ignored);
  });
  asio::error_code failed, ignored;
  co_await socket->async_connect(numeric_endpoint(endpoint(numeric), ignored), telling(failed));
  limit.cancel();
  if (*late) throw nothing_answered(numeric);
  if (failed) throw error(errc::unavailable, failed.message());
  if (socket->local_endpoint(ignored) ==
      socket->remote_endpoint(ignored))  // TCP can connect an ephemeral port to itself
    throw error(errc::unavailable, "nobody listens there");
  co_return std::make_unique<tcp_stream>(std::move(*socket));
}

class tcp_network final : public network {
 public:
  tcp_network() : work_(asio::make_work_guard(context_)), thread_([this] { serve(); }) {}
  ~tcp_network() override {
    context_.stop();
    thread_.join();
    polls_.abandon();
  }

  asio::io_context& context() override { return context_; }
  time_point now() const override { return std::chrono::steady_clock::now(); }
  std::unique_ptr<rpc::timer> make_timer() override { return std::make_unique<tcp_timer>(context_); }
  std::unique_ptr<rpc::listener> listen(const std::string& address) override {
    return std::make_unique<tcp_listener>(context_, address);
  }
  std::unique_ptr<rpc::listener> listen_on_host(std::shared_ptr<slab_account> account) override {
    return rpc::listen_on_host(context_, polls_, std::move(account));
  }
  awaitable<std::unique_ptr<byte_stream>> connect_on_host(std::string address,
                                                          std::shared_ptr<slab_account> account) override {
    return rpc::connect_on_host(context_, polls_, std::move(address), std::move(account));
  }
  bool wait(countdown& event, const std::optional<time_point>& deadline) override {
    return turn_.wait(event, deadline);
  }
  void expect_more() override { turn_.expect_more(); }

  std::uint64_t draw() override { return dice_(); }

  awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) override {
    auto found = co_await addresses_of(context_, address, deadline);
    outcome<> tried;
    try {
      co_return co_await connect_to_any(*this, std::move(found), deadline);
    } catch (...) {
      tried = current_error();
    }
    const error& why = *tried.failure();
    throw error(why.code(), why.code() == errc::deadline_exceeded
                                ? "nothing answered at " + address
                                : "cannot connect to " + address + ": " + why.sentence());
  }

 private:
  void serve() {
    mark_heap();  // long messages arrive here
    take_short_turns();
    turn_.serve();
  }

  poll_list polls_;  // streams that the context still has refer to it
  asio::io_context context_{1};
  std::minstd_rand dice_{std::random_device()()};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  network_turn turn_{context_, polls_};
  std::thread thread_;
};

struct shared_network {
  std::mutex mutex;
  std::weak_ptr<network> alive;
};

}  // namespace detail

PINION_DECL awaitable<std::unique_ptr<byte_stream>> connect_to_any(network& net, std::vector<std::string> numeric,
                                                                   time_point deadline) {
  outcome<> tried = error(errc::unavailable, "the host has no address");
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    const auto now = net.now();
    const auto share = (std::max(deadline, now) - now) / static_cast<duration::rep>(numeric.size() - i);
    try {
      co_return co_await detail::connect_to(net.context(), numeric[i], now + share);
    } catch (...) {
      tried = current_error();
    }
  }
  throw error(*tried.failure());
}

PINION_DECL std::shared_ptr<network> tcp_network_of_this_process() {
  auto& shared = of_this_process<detail::shared_network>();
  std::lock_guard hold(shared.mutex);
  auto found = shared.alive.lock();
  if (!found) shared.alive = found = std::make_shared<detail::tcp_network>();
  return found;
}

}}}  // namespace pinion::v0::rpc

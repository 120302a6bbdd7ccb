// Bodies of <pinion/rpc/tcp_network.hpp>.
#pragma once

#include <netinet/tcp.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <pinion/base/each_process.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/heap.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/process.hpp>
#include <pinion/base/time_slice.hpp>
#include <pinion/rpc/shared_memory/local_network.hpp>
#include <pinion/rpc/tcp_network.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/event_loop.hpp>
#include <pinion/rpc/transport/socket_stream.hpp>

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

// Some addresses of this host, with one port. In the network's thread, but for the constructor and the destructor.
class tcp_listener final : public listener {
 public:
  // `address` is "host:port", as others call them; where that has port 0, one is chosen that is free at all of them. An
  // address that is none of this host is left out, with a line in the log, unless there is no other.
  tcp_listener(asio::io_context& context, const std::string& address, const std::vector<asio::ip::tcp::endpoint>& all)
      : in_(std::make_shared<inside>(context)) {
    constexpr int tries = 20;  // of a port that is free at the first address and taken at another
    for (int left = all.front().port() == 0 && all.size() > 1 ? tries : 1; in_->acceptors.empty(); --left) try {
        bind(context, address, all);
      } catch (const error& e) {
        in_->acceptors.clear();
        if (left == 1 || e.code() != errc::already_exists) throw;
      }
    address_ =
        address.substr(0, address.rfind(':') + 1) + std::to_string(in_->acceptors.front().at.local_endpoint().port());
  }
  ~tcp_listener() override { close(); }
  awaitable<std::unique_ptr<byte_stream>> accept() override {
    const auto in = in_;
    for (endpoint_acceptor& each : in->acceptors)
      if (!each.asks && !each.answered) ask(in, each);
    for (;;) {
      if (in->closed) throw error(errc::cancelled, "the listener of " + address_ + " was closed");
      if (endpoint_acceptor* const one = in->answered()) {
        one->answered = false;
        if (one->failed) throw error(errc::unavailable, "cannot take a connection: " + one->failed.message());
        auto came = std::move(one->came);  // it is closed where there is no memory for the stream
        co_return std::make_unique<tcp_stream>(std::move(came));
      }
      asio::error_code cancelled;
      co_await in->woken.async_wait(telling(cancelled));
    }
  }
  const std::string& address() const override { return address_; }
  void close() noexcept override {
    asio::error_code ignored;
    in_->closed = true;
    for (endpoint_acceptor& each : in_->acceptors) each.at.close(ignored);
    try {
      in_->woken.cancel();
    } catch (...) {
    }
  }

 private:
  // An address, and the answer to the last question for a connection.
  struct endpoint_acceptor {
    explicit endpoint_acceptor(asio::io_context& context) : at(context), came(context) {}
    asio::ip::tcp::acceptor at;
    asio::ip::tcp::socket came;
    asio::error_code failed = {};
    bool asks = false, answered = false;
  };
  // Shared with the questions that are under way.
  struct inside {
    explicit inside(asio::io_context& context) : woken(context, time_point::max()) {}
    // The next of those that have an answer, in turn; null if there is none.
    endpoint_acceptor* answered() {
      for (std::size_t i = 0; i < acceptors.size(); ++i)
        if (endpoint_acceptor& one = acceptors[++last % acceptors.size()]; one.answered) return &one;
      return nullptr;
    }
    std::deque<endpoint_acceptor> acceptors;
    asio::steady_timer woken;  // is cancelled when there is an answer
    std::size_t last = 0;
    bool closed = false;
  };

  static void ask(const std::shared_ptr<inside>& in, endpoint_acceptor& at) {
    at.at.async_accept(at.came, [in, &at](const asio::error_code& failed) {
      at.failed = failed;
      at.asks = false;
      at.answered = true;
      in->woken.cancel();
    });
    at.asks = true;
  }

  void bind(asio::io_context& context, const std::string& address, const std::vector<asio::ip::tcp::endpoint>& all) {
    for (const auto& endpoint : all) {
      auto at = endpoint;
      if (at.port() == 0 && !in_->acceptors.empty()) at.port(in_->acceptors.front().at.local_endpoint().port());
      endpoint_acceptor& next = in_->acceptors.emplace_back(context);
      try {
        next.at.open(at.protocol());
        keep_from_children(next.at.native_handle());
        next.at.set_option(asio::socket_base::reuse_address(true));
        next.at.bind(at);
        next.at.listen();
      } catch (const asio::system_error& e) {
        const std::string why = "cannot listen on " + (all.size() > 1 ? text_of(at) + ", an address of " : "") +
                                address + ": " + e.code().message();
        in_->acceptors.pop_back();
        const bool is_taken = e.code() == asio::error::address_in_use;
        if (is_taken || (in_->acceptors.empty() && &endpoint == &all.back()))
          throw error(is_taken ? errc::already_exists : errc::invalid_argument, why);
        write_log(log_level::warning, "", why);
      }
    }
  }

  const std::shared_ptr<inside> in_;
  std::string address_;
};

// The addresses of a host to listen on.
inline std::vector<asio::ip::tcp::endpoint> endpoints_of(asio::io_context& context, const std::string& address) {
  const endpoint at(address);
  asio::error_code failed;
  const auto numeric = numeric_endpoint(at, failed);
  if (!failed) return {numeric};
  std::vector<asio::ip::tcp::endpoint> all;
  asio::ip::tcp::resolver resolver(context);
  for (const auto& one : resolver.resolve(at.host, at.port, failed))
    if (std::find(all.begin(), all.end(), one.endpoint()) == all.end()) all.push_back(one.endpoint());
  if (failed || all.empty())
    throw error(errc::invalid_argument, "cannot listen on " + address + ": " + failed.message());
  return all;
}

// Says at which addresses a host is listened to, where its name does not tell.
inline void tell_addresses(const std::string& address, const std::vector<asio::ip::tcp::endpoint>& all) {
  std::string list;
  for (const auto& one : all) list += (list.empty() ? "" : ", ") + one.address().to_string();
  const bool only_here =
      std::all_of(all.begin(), all.end(), [](const auto& one) { return one.address().is_loopback(); });
  asio::error_code is_name;
  numeric_endpoint(endpoint(address), is_name);
  if (only_here && is_name)
    write_log(log_level::warning, "",
              address + " is " + list +
                  " here, where no other machine comes: name the address to listen on "
                  "(server_config.listen, pinion_server --listen)");
  else if (all.size() > 1)
    write_log(log_level::info, "", address + " is listened to at " + list);
}

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
  // The context looks up one name at a time, and passes over those that nobody waits for.
  if (!name->is_over) name->resolver.cancel();
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
    const auto all = endpoints_of(context_, address);
    auto made = std::make_unique<tcp_listener>(context_, address, all);
    tell_addresses(made->address(), all);
    return made;
  }
  std::unique_ptr<rpc::listener> listen_on_host(std::shared_ptr<slab_account> account) override {
    return rpc::listen_on_host(context_, polls_, std::move(account));
  }
  awaitable<std::unique_ptr<byte_stream>> connect_on_host(std::string address,
                                                          std::shared_ptr<slab_account> account) override {
    return rpc::connect_on_host(context_, polls_, std::move(address), std::move(account));
  }
  bool wait(countdown& event, const std::optional<time_point>& deadline) override {
    made_in_.expect("what is waited for");
    return loop_.wait(event, deadline);
  }
  void expect_more() override { loop_.expect_more(); }

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
    take_short_slices();
    loop_.serve();
  }

  poll_list polls_;  // streams that the context still has refer to it
  asio::io_context context_{1};
  std::minstd_rand dice_{std::random_device()()};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  event_loop loop_{context_, polls_};
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
  auto& shared = of_each_process<detail::shared_network>();
  std::lock_guard hold(shared.mutex);
  auto found = shared.alive.lock();
  if (!found) shared.alive = found = std::make_shared<detail::tcp_network>();
  return found;
}

}}}  // namespace pinion::v0::rpc

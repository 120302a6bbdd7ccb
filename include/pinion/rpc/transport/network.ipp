// Bodies of <pinion/rpc/transport/network.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void network::post(std::function<void()> body) {
  if (!is_of_this_process()) return;
  asio::post(context(), [body = std::move(body)] {
    try {
      body();
    } catch (...) {
      const error why = current_error();
      if (why.code() != errc::resource_exhausted) throw;
      tell_failed_work(why);
    }
  });
}

PINION_DECL void network::tell_failed_work(const error& why) noexcept {
  static_cast<void>(outcome_of([&] {
    write_log(log_level::error, "", "gave up a piece of work of the network's thread: " + std::string(why.what()));
  }));
}

PINION_DECL void network::spawn(awaitable<void> coroutine) {
  if (is_of_this_process()) asio::co_spawn(context(), std::move(coroutine), asio::detached);
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> network::connect_on_host(std::string,
                                                                             std::shared_ptr<slab_account>) {
  throw error(errc::unavailable, "this network has no connections within a host");
  co_return nullptr;
}

PINION_DECL network::inbox network::borrow_inbox() {
  if (spare_.empty()) return inbox(new std::byte[inbox_size]);
  inbox lent = std::move(spare_.back());
  spare_.pop_back();
  return lent;
}

PINION_DECL void network::give_back(inbox lent) {
  if (lent && spare_.size() < most_spare) spare_.push_back(std::move(lent));
}

PINION_DECL void settle(network& net) {
  countdown done;
  net.post([&] { net.post([&] { done.count_down(); }); });
  pinion::detail::wait_and_say([&](auto time) { return net.wait(done, net.now() + time); },
                               [] { return "what stops waits for the network's thread, which is busy or is held up"; });
}

PINION_DECL bool settle(network& net, time_point until) {
  const auto done = std::make_shared<countdown>();
  net.post([&net, done] { net.post([done] { done->count_down(); }); });
  return net.wait(*done, until);
}

PINION_DECL endpoint::endpoint(const std::string& address) {
  const auto colon = std::min(address.rfind(':'), address.size());
  host = address.substr(0, colon);
  port = address.substr(std::min(colon + 1, address.size()));
  const bool number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
  if (!number || std::stoi(port) > 65535)
    throw error(errc::invalid_argument,
                "the address '" + address + "' is not of the form host:port, with a port from 0 to 65535");
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
}

}}}  // namespace pinion::v0::rpc

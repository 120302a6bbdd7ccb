// Being asked to stop by the system.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <utility>

#include <pinion/rpc/network.hpp>

namespace pinion::inline v0::rpc {

// Calls back once, in the network's thread, when SIGINT or SIGTERM comes while this is there.
class stop_signals {
 public:
  stop_signals(network& net, std::function<void()> stop)
      : net_(net), signals_(std::make_shared<asio::signal_set>(net.context(), SIGINT, SIGTERM)) {
    signals_->async_wait([stop = std::move(stop), keep = signals_](const asio::error_code& cancelled, int) {
      if (!cancelled) stop();
    });
  }
  stop_signals(const stop_signals&) = delete;
  ~stop_signals() {
    net_.post([signals = std::move(signals_)] { signals->cancel(); });
  }

 private:
  network& net_;
  std::shared_ptr<asio::signal_set> signals_;
};

}  // namespace pinion::inline v0::rpc

// The listeners of simulated hosts.
#pragma once

#include <deque>

#include <pinion/base/config.hpp>
#include <pinion/netsim/sleeper.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// The state of a listener: the connections that wait to be accepted. Shared with pending accepts.
struct listening {
  world_ptr world;
  host_ptr host;
  std::string address;
  sleeper waiter;
  std::deque<std::unique_ptr<byte_stream>> backlog = {};
  bool closed = false;

  void close();
};

// A listener of a simulated host.
class listener final : public rpc::listener {
 public:
  explicit listener(std::shared_ptr<listening> state) : state_(std::move(state)) {}
  ~listener() override { close(); }
  awaitable<std::unique_ptr<byte_stream>> accept() override { return accepting(state_); }
  const std::string& address() const override { return state_->address; }
  void close() noexcept override { state_->close(); }

 private:
  static awaitable<std::unique_ptr<byte_stream>> accepting(std::shared_ptr<listening> state);

  std::shared_ptr<listening> state_;
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/listener.ipp>
#endif

// Takes connections, pairs the lanes of each client, and hands what they ask to a service.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/rpc/channel.hpp>

namespace pinion::inline v0::rpc {

// A client as its server sees it: both lanes of one channel.
struct guest {
  std::uint64_t channel = 0;
  std::string name;               // "" for a client that is no task
  std::uint64_t incarnation = 0;  // of the task
};
using guest_ref = std::shared_ptr<const guest>;

// What a server does with what arrives; all in the network's thread.
struct service {
  std::function<std::unique_ptr<incoming>(const envelope&, responder, const guest_ref&)> request;
  std::function<std::unique_ptr<incoming>(const envelope&, const guest_ref&)> notice;
  std::function<void(const guest_ref&, const error&)> gone;  // once for each client
};

struct server_options {
  identity me;
  duration handshake = std::chrono::seconds(5);  // the most that one may take
  duration silence = std::chrono::seconds(10);   // a client that does not even ping is gone
  limits allowed{};
  std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
};

// Shared by its owner and its coroutines.
class server : public std::enable_shared_from_this<server> {
 public:
  server(network& net, std::unique_ptr<listener> where, server_options options, rpc::service what)
      : net_(net), listener_(std::move(where)), options_(std::move(options)), service_(std::move(what)) {}

  const std::string& address() const { return listener_->address(); }
  void start() {
    net_.post([self = shared_from_this()] {
      self->net_.spawn(self->accept(self));
      self->net_.spawn(self->sweep(self));
    });
  }
  // Frees the port, tells the clients why, and closes their connections; nothing is served after it has called back, in
  // the network's thread.
  void stop(const error& why, std::function<void()> stopped = {}) {
    net_.post([self = shared_from_this(), why, stopped = std::move(stopped)] {
      self->stop_here(why);
      if (stopped) stopped();
    });
  }

 private:
  struct client {
    guest_ref who;
    std::shared_ptr<connection> lanes[2];
  };

  awaitable<void> accept(std::shared_ptr<server> self) {
    while (!stopped_) {
      std::unique_ptr<byte_stream> stream;
      bool closed = false;
      try {
        stream = co_await listener_->accept();
      } catch (...) {
        closed = current_error().code() == errc::cancelled;
      }
      if (closed) co_return;
      if (stream)
        net_.spawn(receive(self, std::move(stream)));
      else
        co_await pause();  // out of descriptors, say: others may go meanwhile
    }
  }
  awaitable<void> pause() {
    const auto timer = net_.make_timer();
    co_await timer->wait_until(net_.now() + std::chrono::milliseconds(100));
  }

  awaitable<void> receive([[maybe_unused]] std::shared_ptr<server> self, std::unique_ptr<byte_stream> stream) {
    hello theirs;
    try {
      shaking_.insert(stream.get());
      fuse limited(net_, *stream, net_.now() + options_.handshake);
      theirs = co_await receive_guest(*stream, options_.me);
    } catch (...) {  // the client was told
      theirs.channel = 0;
    }
    shaking_.erase(stream.get());
    if (theirs.channel != 0 && !stopped_) admit(theirs, std::move(stream));
  }

  void admit(const hello& theirs, std::unique_ptr<byte_stream> stream) {
    auto& c = clients_[theirs.channel];
    if (!c.who) c.who = std::make_shared<const guest>(guest{theirs.channel, theirs.from, theirs.incarnation});
    auto& lane = c.lanes[theirs.lane == lane::control ? 1 : 0];
    const bool same = c.who->name == theirs.from && c.who->incarnation == theirs.incarnation;
    if (lane || !same) return;  // a lane that is there already, or one of another peer: somebody guessed a number
    lane = std::make_shared<connection>(net_, std::move(stream), options_.traffic, options_.allowed);
    lane->start(
        {.request = [this, who = c.who](const envelope& e,
                                        responder answer) { return request(e, std::move(answer), who); },
         .notice = [this, who = c.who](const envelope& e) { return service_.notice(e, who); },
         .closed = [self = shared_from_this(), id = theirs.channel](const error& why) { self->drop(id, why); }});
  }
  std::unique_ptr<incoming> request(const envelope& e, responder answer, const guest_ref& who) {
    if (e.method != ping_method) return service_.request(e, std::move(answer), who);
    answer.reply(message());
    return nullptr;
  }

  // When one lane goes, so does the other.
  void drop(std::uint64_t id, const error& why) {
    const auto at = clients_.find(id);
    if (at == clients_.end()) return;
    const client gone = std::move(at->second);
    clients_.erase(at);
    for (const auto& lane : gone.lanes)
      if (lane) lane->abandon(why);
    if (service_.gone) service_.gone(gone.who, why);
  }

  // Clients whose host vanished without a word.
  awaitable<void> sweep([[maybe_unused]] std::shared_ptr<server> self) {
    sweeper_ = net_.make_timer();
    auto wake = net_.now();
    while (!stopped_) {
      if (net_.now() - wake < options_.silence / 4) drop_silent();  // else this process was stopped itself
      wake = net_.now() + options_.silence / 2;
      co_await sweeper_->wait_until(wake);
    }
  }
  void drop_silent() {
    std::vector<std::uint64_t> silent;
    for (const auto& [id, c] : clients_) {
      time_point heard{};
      for (const auto& lane : c.lanes)
        if (lane) heard = std::max(heard, lane->last_heard());
      if (net_.now() - heard > options_.silence) silent.push_back(id);
    }
    for (const auto id : silent) drop(id, error(errc::unavailable, "the client has been silent too long"));
  }

  void stop_here(const error& why) {
    if (std::exchange(stopped_, true)) return;
    listener_->close();
    if (sweeper_) sweeper_->cancel();
    for (byte_stream* s : shaking_) s->close();
    for (auto& [id, c] : std::exchange(clients_, {})) {
      for (const auto& lane : c.lanes)
        if (lane) lane->leave(why);
      if (service_.gone) service_.gone(c.who, why);
    }
    service_ = {};
  }

  network& net_;
  const std::unique_ptr<listener> listener_;
  const server_options options_;
  rpc::service service_;
  std::map<std::uint64_t, client> clients_;
  std::set<byte_stream*> shaking_;
  std::unique_ptr<rpc::timer> sweeper_;
  bool stopped_ = false;
};

}  // namespace pinion::inline v0::rpc

// Messages as types: a struct with `serialize` and a method number goes out, or comes in, as itself.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <pinion/rpc/channel.hpp>

namespace pinion::inline v0::rpc {

namespace detail {

template <class M, class Deliver>
class typed_incoming final : public incoming {
 public:
  typed_incoming(const envelope& e, Deliver deliver) : deliver_(std::move(deliver)) {
    reader in(e.control, e.payload);
    in(message_);
    in.finish();
    rooms_ = std::move(in.rooms);
  }
  std::span<const std::span<std::byte>> rooms() const override { return rooms_; }
  void arrived() override { deliver_(std::move(message_)); }

 private:
  M message_;
  std::vector<std::span<std::byte>> rooms_;
  Deliver deliver_;
};

}  // namespace detail

// Reads a message now, and delivers it when its payload is there.
template <class M, class Deliver>
std::unique_ptr<incoming> receive(const envelope& e, Deliver deliver) {
  return std::make_unique<detail::typed_incoming<M, Deliver>>(e, std::move(deliver));
}

// Asks a task: done(reply, null) or done({}, error), once.
template <class Reply, class Request>
void call(channel& to, lane by, const Request& request, std::function<void(Reply, const error*)> done) {
  to.request(by, Request::method, encode(request),
             {.open =
                  [done](const envelope& e) {
                    return receive<Reply>(e, [done](Reply&& reply) { done(std::move(reply), nullptr); });
                  },
              .failed = [done](const error& why) { done(Reply{}, &why); }});
}

// The answer to a request that has none.
struct nothing {
  template <class A>
  void serialize(A&) {}
};

}  // namespace pinion::inline v0::rpc

// Sends and receives structs as messages: a struct with `serialize` and a method number is a message type.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/rpc/channel.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A received message that is not yet decoded. Large messages take seconds to read, so another thread opens them and the
// network's thread goes on. Its payload is copied once more than that of a message that is read on arrival, and takes
// memory as it comes, not when it is announced.
template <class M>
class sealed {
 public:
  sealed() = default;
  explicit sealed(const envelope& e)
      : control_(e.text ? std::move(*e.text) : std::string(e.control)), payload_(e.payload) {}

  arriving_bytes& payload() { return payload_; }
  // The memory that the opened message takes, as estimated.
  std::uint64_t memory() const { return memory_; }
  // Decodes the message; call it once. Throws error(data_loss) for a malformed message, and error(resource_exhausted)
  // for one that takes more memory than it may.
  M open(std::uint64_t most_memory = ~std::uint64_t{0}) {
    M message;
    reader in(control_, payload_.announced());
    in.allow(most_memory);
    read_all(in, message);
    memory_ = in.spent();
    payload_.move_to(in.rooms.all());
    in.rooms.check();
    return message;
  }

 private:
  std::string control_;
  arriving_bytes payload_;
  std::uint64_t memory_ = 0;
};

namespace detail {

template <class M, class Deliver>
class sealed_incoming final : public incoming {
 public:
  sealed_incoming(const envelope& e, Deliver deliver) : message_(e), deliver_(std::move(deliver)) {}
  std::span<const std::span<std::byte>> rooms() const override { return {}; }
  arriving_bytes* rest() override { return &message_.payload(); }
  void arrived() override { deliver_(std::move(message_)); }

 private:
  sealed<M> message_;
  Deliver deliver_;
};

}  // namespace detail

// Reads what a message says of itself. It may describe values for which no memory has been taken.
template <class M>
M read_head(const envelope& e) {
  M head;
  reader in(e.control, e.payload);
  read_all(in, head);
  return head;
}

namespace detail {

template <class M, class Deliver>
class welcomed_incoming final : public incoming {
 public:
  welcomed_incoming(M&& m, payload_rooms&& rooms, Deliver deliver)
      : message_(std::move(m)), rooms_(std::move(rooms)), deliver_(std::move(deliver)) {}
  std::span<const std::span<std::byte>> rooms() const override { return rooms_.all(); }
  void check() const override { rooms_.check(); }
  void arrived() override { deliver_(std::move(message_)); }

 private:
  M message_;
  const payload_rooms rooms_;
  Deliver deliver_;
};

}  // namespace detail

// Delivers a message whose head was read and found welcome, when its payload has filled the rooms.
template <class M, class Deliver>
std::unique_ptr<incoming> welcome_in(M&& message, payload_rooms&& rooms, Deliver deliver) {
  return std::make_unique<detail::welcomed_incoming<M, Deliver>>(std::move(message), std::move(rooms),
                                                                 std::move(deliver));
}

// Delivers a message without reading it.
template <class M, class Deliver>
std::unique_ptr<incoming> receive_sealed(const envelope& e, Deliver deliver) {
  return std::make_unique<detail::sealed_incoming<M, Deliver>>(e, std::move(deliver));
}

// Control parts longer than this, in bytes, take the network's thread too long to read.
inline constexpr std::size_t long_control = std::size_t{64} << 10;

// Reads a message now, and delivers it when its payload has arrived.
template <class M, class Deliver>
std::unique_ptr<incoming> receive(const envelope& e, Deliver deliver) {
  M message;
  reader in(e.control, e.payload, e.lent);
  read_all(in, message);
  return welcome_in(std::move(message), std::move(in.rooms), std::move(deliver));
}

// Sends a request; `done` gets the reply, in the network's thread.
template <class Reply, class Request>
void call(channel& to, lane by, const Request& request, std::type_identity_t<completion<Reply>> done) {
  to.request(
      by, Request::method, encode(request),
      {.open =
           [done](const envelope& e) { return receive<Reply>(e, [done](Reply&& reply) { done(std::move(reply)); }); },
       .failed = [done](const error& why) { done(why); }});
}

// An answer that was read on arrival or, if it is long and has no payload, is read by take().
template <class Reply>
struct reply_to_read {
  Reply value{};
  std::optional<sealed<Reply>> unread{};
  Reply take() { return unread ? unread->open() : std::move(value); }
};

// Sends a request as call() does, but done() gets an answer that it may read later, in another thread.
template <class Reply, class Request>
void call_at_leisure(channel& to, lane by, const Request& request,
                     std::type_identity_t<completion<reply_to_read<Reply>>> done) {
  to.request(by, Request::method, encode(request),
             {.open = [done](const envelope& e) -> std::unique_ptr<incoming> {
                if (e.payload > 0 || e.control.size() <= long_control)
                  return receive<Reply>(
                      e, [done](Reply&& reply) { done(reply_to_read<Reply>{.value = std::move(reply)}); });
                return receive_sealed<Reply>(
                    e, [done](sealed<Reply>&& reply) { done(reply_to_read<Reply>{.unread = std::move(reply)}); });
              },
              .failed = [done](const error& why) { done(why); }});
}

// The reply to requests that return no value.
struct nothing {
  template <class A>
  void serialize(A&) {}
};

}}}  // namespace pinion::v0::rpc

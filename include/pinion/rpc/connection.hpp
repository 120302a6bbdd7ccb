// One connection after its handshake: many requests pending at once, in both directions.
//
// Invariants
//   1. A request gets exactly one answer: the peer's, or the reason for which the connection closed. It is sent at most
//      once; nothing is ever sent again.
//   2. Messages are read, opened and delivered in the network's thread, one after the other. An opener may refuse a
//      message by throwing, which closes the connection with that reason.
//   3. No memory is allocated for an announced length before it is checked, and a control part grows only as fast as it
//      arrives, counted by connection_handlers::hold. Of the payloads that arrive in pieces there are at most
//      most_slots, and each piece is one of them that has not all its bytes.
//   4. A side with a backlog limit reads no further request while more than that waits to be sent, the largest answer
//      that goes in pieces not counted; so what a peer does not take grows no further, and one large answer holds up
//      nothing. Only a serving side has a limit, so two sides never wait for each other.
//   5. A connection on which nothing arrives holds no memory for what may (buffered_reader.hpp).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/arriving_bytes.hpp>
#include <pinion/rpc/backlog.hpp>
#include <pinion/rpc/buffered_reader.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/message_writer.hpp>
#include <pinion/rpc/responder.hpp>
#include <pinion/rpc/traffic.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A message that is arriving: it is opened when its control part is complete, its rooms are filled with the payload,
// it is checked, then delivered.
class incoming {
 public:
  virtual ~incoming() = default;
  // Memory for the payload, or for all of it but the rest.
  virtual std::span<const std::span<std::byte>> rooms() const = 0;
  // The end of the payload, for which memory is taken as it comes; null: none.
  virtual arriving_bytes* rest() { return nullptr; }
  // Throws if the payload is not what the message said of it.
  virtual void check() const {}
  virtual void arrived() = 0;
};

// The part of a message before its payload. The view `control` is valid during the call only; code that reads later
// takes the text.
struct envelope {
  rpc::method method;
  std::string_view control;
  std::uint64_t payload;
  std::string* text = nullptr;                // the owner of `control`, from which the text may be moved
  std::shared_ptr<std::byte> lent = nullptr;  // the payload, in memory that the peer has lent; null: it is to come
};

// The functions that take the answer to a request, or its failure.
struct reply_handler {
  std::function<std::unique_ptr<incoming>(const envelope&)> open;
  std::function<void(const error&)> failed;
};

// The functions that a connection calls, in the network's thread.
struct connection_handlers {
  std::function<std::unique_ptr<incoming>(const envelope&, responder)> request;
  std::function<std::unique_ptr<incoming>(const envelope&)> notice;
  std::function<void(const error&)> closed;  // called once
  // Counts so many bytes of a control part that is arriving, while the result lives. Throws to refuse the message.
  // Empty: they are not counted.
  std::function<std::shared_ptr<void>(std::uint64_t bytes)> hold = {};
  // Turns the reason of closing into the error of pending requests
  std::function<error(const error&)> explain = [](const error& why) { return why; };
};

// A connection. Shared by its owner and by its own coroutines, which the network outlives. send, request and close may
// be called in any thread.
class connection final : public std::enable_shared_from_this<connection>, private message_writer::owner {
 public:
  connection(rpc::network& net, std::unique_ptr<byte_stream> stream, std::shared_ptr<rpc::traffic> count,
             const limits& allowed = {}, const backlog_limit& backlog = {})
      : net_(net),
        stream_(std::move(stream)),
        memory_(stream_->memory()),
        traffic_(std::move(count)),
        limits_(allowed),
        in_(net, *stream_, *traffic_),
        out_(net, *stream_, *traffic_, in_, *this, backlog) {}

  // Starts reading. Call it in the network's thread.
  void start(connection_handlers handlers);

  void notify(rpc::method what, rpc::message&& message, urgency when = urgency::batch);
  // Fails at once if the connection is closed or the message is larger than a peer accepts.
  void request(rpc::method what, rpc::message&& message, reply_handler handler);

  // Returns why it ended; null while it is open.
  shared_error why_closed() const;
  // Tells the peer why, if that is still possible, and closes.
  void close(const error& why);
  // Close at once, without and with telling the peer why. In the network's thread.
  void abandon(const error& why) noexcept { close_now(why, false); }
  void leave(const error& why) noexcept { close_now(why, true); }

  // The reader of what arrives tells when the peer was last heard. Call its forgive() after this process was suspended
  // and could hear nothing, and its give_up() for want of memory: then those who wait for answers wait no longer than
  // until the next heartbeat.
  buffered_reader& in() { return in_; }
  // The writer of what leaves tells how far that is, and how much of it waits for the peer.
  message_writer& out() { return out_; }

  // The memory that the peers share, to be trimmed each second or so; null: there is none.
  shared_memory* memory() const { return memory_.get(); }

 private:
  friend class responder;

  // A message that has begun to arrive.
  struct arriving {
    std::unique_ptr<incoming> message;   // null: its payload is passed over
    std::optional<reply_handler> asker;  // of the request that it answers
    std::uint64_t left = 0;              // of the payload
    std::size_t rooms = 0;               // how many of its rooms were begun
    std::span<std::byte> room = {};      // the rest of the last of them

    // Memory for the next of so many bytes, which are not more than what is left. Requires: there is a message.
    std::span<std::byte> next_room(std::uint64_t most);
  };

  // ---- in

  awaitable<void> read(std::shared_ptr<connection> self);
  awaitable<void> read_frame();
  awaitable<frame_header> read_header();
  // Fails, when all of it was passed over, if it is not to be held.
  awaitable<outcome<std::string>> read_control(std::uint64_t bytes);
  // Refuses a message whose control part was not held. Throws unless it is a request.
  void refuse(const frame_header& h, const error& why);
  // Reads the next bytes of a payload.
  awaitable<void> read_payload(arriving& a, std::uint64_t bytes);
  // Copies a payload that the peer has lent to where it belongs, but for what stays in place.
  awaitable<void> take_payload(arriving& a, std::shared_ptr<std::byte> lent);
  // Is that payload where it belongs already? Then it has arrived.
  bool stays_in_place(arriving& a, const std::byte* lent);
  awaitable<void> read_piece(const frame_header& h);
  // The payload that a message says it has in shared memory. Throws data_loss where there is none.
  std::shared_ptr<std::byte> borrow(const frame_header& h) const;

  // Opens a message in its place among those that arrive. An answer that cannot be read, or that arrives incomplete,
  // also fails its request; one that no request waits for is passed over.
  void begin(arriving& a, const frame_header& h, std::string& control, std::shared_ptr<std::byte> lent);
  arriving& place_of(const frame_header& h);
  static std::unique_ptr<incoming> checked(std::unique_ptr<incoming> message, const frame_header& h);
  void fail_asker(arriving& a, const std::string& control);
  std::optional<reply_handler> take_waiting(std::uint64_t id);
  // Delivers a message all of which is there, and takes it from those that arrive.
  void deliver(arriving& a, std::uint16_t slot);

  // ---- end

  std::shared_ptr<message_writer::owner> kept() override {
    return std::shared_ptr<message_writer::owner>(shared_from_this(), this);
  }
  // Call it in the network's thread.
  void close_now(const error& why, bool tell) noexcept override;
  // Tells the one who waits for an answer that it does not come. Throws nothing, so that all are told.
  static void fail(const reply_handler& asker, const connection_handlers& with, const error& why) noexcept;

  rpc::network& net_;
  const std::unique_ptr<byte_stream> stream_;
  const std::shared_ptr<shared_memory> memory_;  // of the stream; null: there is none
  const std::shared_ptr<rpc::traffic> traffic_;
  const limits limits_;
  connection_handlers handlers_;
  buffered_reader in_;
  message_writer out_;
  bool refusing_ = false;  // it is this side that ends the connection, if what is being done throws
  arriving whole_;         // the message whose payload follows at once
  std::map<std::uint16_t, arriving> in_pieces_;  // those whose payloads come in pieces, by their slots

  mutable std::mutex mutex_;  // never held while a handler is called
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, reply_handler> waiting_;
  shared_error closed_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/connection.ipp>
#include <pinion/rpc/responder.ipp>
#endif

// The messages of a connection that wait to be written, and the order in which their bytes go.
//
// Invariants
//   1. A message with a payload of at most most_whole bytes goes whole, in the order of add().
//   2. Another goes as its beginning, and then its payload in pieces. Between two pieces go whole messages, as many
//      bytes of them as a piece has. So a whole message waits for one piece at most, and no payload waits without end.
//   3. Of the payloads the one goes on of which the least is left; each fourth piece is of the oldest.
//   4. Where memory is shared, a large payload is lent where it is, or put there, if it has room, and its message then
//      goes whole. That of a very large one is put there in pieces, in the same order.
//   5. The bytes of next() stay in place until they are written, whatever is added meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/backlog.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/shared_memory/shared_memory.hpp>
#include <pinion/rpc/transport/asio.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Owned by a connection. Not thread-safe.
class outbox {
 public:
  static constexpr std::uint64_t piece = std::uint64_t{256} << 10;
  // Where memory is shared, it is worth that for payloads of more bytes than the first. Those of no more than the
  // second are put there by the thread that sends them.
  static constexpr std::uint64_t worth_sharing = std::uint64_t{16} << 10, shared_at_once = std::uint64_t{1} << 20;

  explicit outbox(std::shared_ptr<backlog_of_all> all = nullptr) : cost_(std::move(all)) {}

  // A message, and how much of its payload has been taken into frames.
  struct outgoing {
    frame_header header;  // its lengths are those of the message
    rpc::message message;
    std::uint64_t left;
    std::size_t part = 0, within = 0;  // where the rest of the payload begins
    shared_memory::place place = {};   // of the payload; empty: it is not shared
    std::uint64_t number = 0;          // in the order of add(), from 1

    outgoing(frame_header h, rpc::message&& m);
    // The place of the payload in a slab of this process; nothing where it is in none, or not worth that it is lent.
    std::optional<place_in_slab> in_slab() const;
    // Lends the payload where it is. Returns false where that is not possible.
    bool lend(shared_memory& with, const place_in_slab& where);
    // Finds a place for the payload if it is worth that, and puts a payload there that is not very large.
    void share(shared_memory& with);
    // Puts the next bytes of the payload to its place, as many as a piece has.
    void put_piece() { put(piece); }
    void put(std::uint64_t most);
    // The memory that it takes, but for that which is shared: of that there is no more than a connection has.
    std::uint64_t cost() const { return sizeof *this + header.control + (header.shared ? 0 : header.payload); }
  };
  using messages = std::list<outgoing>;

  void add(outgoing&& next);
  bool empty() const { return batch_.empty() && whole_.empty() && in_pieces_.empty() && to_share_.empty(); }

  // The bytes to be written next, for one call of the system; none where all are written.
  std::span<const asio::const_buffer> next();
  // The payloads, in bytes, of the messages among these that are in shared memory.
  std::uint64_t shared() const { return shared_; }
  // The message of which put_piece() is to be called next, which needs no lock; null: there is none.
  outgoing* next_to_share();
  // Takes note that so many of these bytes were written. Returns the messages that are gone with them: their memory may
  // be freed where others do not wait for it.
  [[nodiscard]] messages written(std::size_t bytes);
  // Gives up what is not written. Not while bytes of next() are being written.
  [[nodiscard]] messages clear();

  // The memory of the messages that are not gone.
  std::uint64_t cost() const { return cost_.bytes(); }
  // That of the largest of those that go in pieces.
  std::uint64_t largest() const;
  // May a message of so many bytes be added, for all that waits for others?
  bool may_add(std::uint64_t bytes) const { return cost_.may_add(bytes); }
  // How many messages have been added so far, and whether the first so many of them are gone.
  std::uint64_t added() const { return added_; }
  bool are_gone(std::uint64_t first) const;
  // The bytes of the frames of all messages so far.
  std::uint64_t bytes_added() const { return bytes_added_; }

 private:
  // Calls for_part(bytes) with the next bytes of a payload, part by part.
  template <class ForPart>
  static void advance(outgoing& o, std::uint64_t bytes, const ForPart& for_part);
  void append(std::span<const std::byte> bytes);
  void append_beginning(const outgoing& o);
  void append_payload(outgoing& o, std::uint64_t bytes);
  void append_whole_messages();
  void append_piece();
  // The next message; end() if none may begin.
  messages::iterator next_of(messages& all, bool may_begin);

  messages whole_, in_pieces_, to_share_;  // in the order of add()
  messages::iterator sharing_ = to_share_.end();
  messages ending_;  // those that are gone when the batch is written
  std::vector<asio::const_buffer> batch_;
  std::size_t at_ = 0;        // of the batch: what is before it was written
  bool begun_ = false;        // some of the batch was written
  std::uint64_t room_ = 0;    // for whole messages in the batch
  std::uint64_t shared_ = 0;  // in the batch
  frame_header piece_;        // of the piece in the batch; no bytes: there is none
  std::uint32_t slots_ = 0;   // those in use, as bits
  unsigned served_ = 0;       // of pieces
  backlog cost_;
  std::uint64_t added_ = 0, bytes_added_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/outbox.ipp>
#endif

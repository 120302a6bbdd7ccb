// The messages of a connection that wait to be written, and the order in which their bytes go.
//
// Invariants
//   1. A message with a payload of at most most_whole bytes goes whole, in the order of add().
//   2. Another goes as its beginning, and then its payload in pieces. Between two pieces go whole messages, as many
//      bytes of them as a piece has. So a whole message waits for one piece at most, and no payload waits without end.
//   3. Of the payloads the one goes on of which the least is left; each fourth piece is of the oldest.
//   4. The bytes of next() stay in place until they are written, whatever is added meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/asio.hpp>
#include <pinion/rpc/backlog.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/shared_memory.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Owned by a connection. Not thread-safe.
class outbox {
 public:
  static constexpr std::uint64_t piece = std::uint64_t{256} << 10;
  // Where memory is shared, it is worth the copies for payloads of more bytes.
  static constexpr std::uint64_t worth_sharing = std::uint64_t{16} << 10;

  explicit outbox(std::uint64_t most_whole = piece, std::shared_ptr<backlog_of_all> all = nullptr)
      : most_whole_(most_whole), cost_(std::move(all)) {}

  // A message, and how much of its payload has been taken into frames.
  struct outgoing {
    frame_header header;
    rpc::message message;
    std::uint64_t left = 0;
    std::size_t part = 0, within = 0;  // where the rest of the payload begins

    // The memory that it takes.
    std::uint64_t cost() const { return sizeof *this + header.control + header.payload; }
  };
  using messages = std::list<outgoing>;

  // The lengths of the header are those of the message.
  void add(frame_header header, rpc::message&& message);
  bool empty() const { return batch_.empty() && whole_.empty() && in_pieces_.empty(); }

  // The bytes to be written next, for one call of the system; none where all are written.
  std::span<const asio::const_buffer> next();
  // Puts the piece among these bytes into shared memory, if there is one and it has room there; returns the bytes that
  // remain to be written. Others may add messages meanwhile.
  std::span<const asio::const_buffer> share(shared_memory& with);
  // The bytes of next() that are in shared memory.
  std::uint64_t shared() const { return piece_.shared ? piece_.payload : 0; }
  // Takes note that so many of these bytes were written. Returns the messages that are gone with them: their memory may
  // be freed where others do not wait for it.
  [[nodiscard]] messages written(std::size_t bytes);
  // Gives up what is not written. Not while bytes of next() are being written.
  [[nodiscard]] messages clear();

  // The memory of the messages that are not gone.
  std::uint64_t cost() const { return cost_.bytes(); }
  // May a message of so many bytes be added, for all that waits for others?
  bool may_add(std::uint64_t bytes) const { return cost_.may_add(bytes); }
  // The bytes of the frames of all messages so far.
  std::uint64_t bytes_added() const { return bytes_added_; }

 private:
  void append(const void* data, std::uint64_t bytes);
  void append_beginning(const outgoing& o);
  // Appends the next bytes of its payload.
  void append_payload(outgoing& o, std::uint64_t bytes);
  void append_whole_messages();
  void append_piece();
  messages::iterator next_in_pieces();

  const std::uint64_t most_whole_;
  messages whole_, in_pieces_;  // in the order of add()
  messages ending_;             // those that are gone when the batch is written
  std::vector<asio::const_buffer> batch_;
  std::size_t at_ = 0;        // of the batch: what is before it was written
  bool begun_ = false;        // some of the batch was written
  std::uint64_t room_ = 0;    // for whole messages in the batch
  std::size_t piece_at_ = 0;  // where the bytes of the piece begin in the batch
  frame_header piece_;        // of the piece in the batch; no bytes: there is none
  std::uint32_t slots_ = 0;   // those in use, as bits
  unsigned turns_ = 0;        // of pieces
  backlog cost_;
  std::uint64_t bytes_added_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/outbox.ipp>
#endif

// The messages of a connection on their way out: what waits for the peer, who writes it, and how much may wait.
//
// Invariants
//   1. A frame is never torn or interleaved with another. Messages leave in the order of send(), but a large payload
//      leaves in pieces, and others overtake it (outbox.hpp).
//   2. One at a time writes: the thread that sends, or the coroutine write().
//   3. A peer for which more waits than the limit says, answers in pieces counted, and that takes nothing for long is
//      closed, whether it asks or not; meanwhile, or far beyond the limit, the answers to what it has asked before are
//      replaced by a refusal. So are those beyond its share, where more waits for all peers than may.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/backlog.hpp>
#include <pinion/rpc/buffered_reader.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/outbox.hpp>
#include <pinion/rpc/shared_memory/shared_memory.hpp>
#include <pinion/rpc/traffic.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class urgency {
  now,    // written at once, in the calling thread, if possible
  batch,  // written by the network's thread, together with the rest of the queue; within a host as `now`
};

// Owned by a connection, which keeps what it refers to. Thread-safe, but where a function is for the network's thread.
class message_writer {
 public:
  // The connection that has the writer.
  class owner {
   public:
    // Returns what keeps it and the writer alive. Called in any thread.
    virtual std::shared_ptr<owner> kept() = 0;
    // Called in the network's thread.
    virtual void close_now(const error& why, bool tell) noexcept = 0;

   protected:
    ~owner() = default;
  };

  message_writer(network& net, byte_stream& to, traffic& count, buffered_reader& in, owner& of,
                 const backlog_limit& limit)
      : net_(net),
        stream_(to),
        memory_(to.memory()),
        traffic_(count),
        in_(in),
        owner_(of),
        limit_(limit),
        out_(limit.all) {}

  // Throws before anything of the message is sent, or not at all. A closed writer sends nothing.
  void send(frame_header header, rpc::message&& message, urgency when);
  // Closes the stream, before which the peer is told why if that is still possible; null: it is not told. In the
  // network's thread.
  void close(const error* told) noexcept;

  // ---- how far they are

  // The bytes of all messages so far, and those of them that the peer's system is known to have taken: the latter grow
  // by pieces. In the network's thread, like the next.
  std::uint64_t bytes_queued() const;
  std::uint64_t bytes_taken() const;
  // A number that grows with each byte that the peer's system takes.
  std::uint64_t progress() const;
  // The bytes that wait for the peer to take them, the memory of their messages counted.
  std::uint64_t bytes_waiting() const;
  // How many messages there have been; and whether the first so many of them are written: then, how many bytes were.
  std::uint64_t messages() const;
  std::optional<std::uint64_t> bytes_if_gone(std::uint64_t messages) const;

  // ---- what waits

  // Do so many answers wait that no further request is to be read?
  bool is_crowded() const;
  // Waits until half of what may wait for the peer is gone. In the network's thread.
  awaitable<void> await_room();
  // Sees to a peer for which more waits than may since others came, as is seen to one to which too much is sent.
  void watch_backlog();

 private:
  // Writes what was added, or has the network's thread do it. Requires: the lock is held.
  void write_on(urgency when, outbox::messages& gone);
  // Lends a payload where it is, in a slab that the peer has been shown. Returns false where that is not possible.
  bool lend(outbox::outgoing& next);

  // Requires, for the next six: the lock is held. The messages that are gone are added to `gone`.
  bool all_written_now(outbox::messages& gone);
  void watch_if_crowded();
  bool has_backlog() const { return out_.cost() > limit_.of_one(); }
  bool takes_no_more() const;
  error why_crowded(const std::string& then) const;
  // Puts a refusal in the place of an answer that may not wait as well.
  void refuse_if_crowded(outbox::outgoing& answer) const;

  void count_written(std::size_t bytes);
  void say_goodbye(const error& why);
  awaitable<void> write(std::shared_ptr<owner> keeps);
  // Closes the connection if more waits than may, and the peer takes none of it for long. Ends when less waits.
  awaitable<void> watch(std::shared_ptr<owner> keeps);

  network& net_;
  byte_stream& stream_;
  const std::shared_ptr<shared_memory> memory_;  // of the stream; null: there is none
  traffic& traffic_;
  buffered_reader& in_;
  owner& owner_;
  const backlog_limit limit_;
  std::atomic<std::uint64_t> written_{0};  // bytes that the stream has taken
  std::unique_ptr<timer> room_;            // set while await_room() waits
  std::unique_ptr<timer> watch_;           // set while watch() waits

  mutable std::mutex mutex_;
  outbox out_;
  bool closed_ = false;
  bool writing_ = false;
  bool watched_ = false;  // does watch() run?
  time_point moved_{};    // when the stream last took bytes from write(), or more began to wait than may
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/message_writer.ipp>
#endif
